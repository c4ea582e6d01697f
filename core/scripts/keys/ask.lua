-- Asks about the keys of an object, or about all keys, and changes nothing.
--
-- Inputs
--   keys   the keys that the commands name
--   words  see _commands.lua
-- Replies
--   {1, n, …}  n is the sum of the numbers that the commands gave; behind it the texts that they gave, none for a missing key
--   an error   the server's own
local keys = KEYS
local words = ARGV

local reply = {1, 0}
local function add(said)
  if type(said) == 'number' then reply[2] = reply[2] + said end
  if type(said) == 'string' then table.insert(reply, said) end
  if type(said) ~= 'table' then return end
  if said.ok then add(said.ok) end
  for _, each in ipairs(said) do add(each) end
end

for _, command in ipairs(commands(words, 1)) do
  local said = redis.pcall(unpack(command))
  if type(said) == 'table' and said.err then return said end
  add(said)
end
return reply
