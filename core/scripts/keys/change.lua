-- Changes the keys of an object, or all keys. The first command decides: where it does nothing, or fails, the others are left out. They are
-- about what belongs to the object and need not be there.
--
-- Inputs
--   keys       those that the commands are about; the last one is the request, see _once.lua
--   keep       ms that the request is remembered; 0: it may be carried out again, and counts then what is there
--   not_after  see _late.lua
--   words      from the third argument on, see _commands.lua
-- Replies
--   {1, n}    what the first command counts; 1 if it says OK, 0 if there is nothing that it could be done with
--   an error  the server's own
local keys = KEYS
local keep, not_after, words = ARGV[1], ARGV[2], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local request = keys[#keys]
local before = keep ~= '0' and answered(request)
if before then return {1, before} end
local all = commands(words, 3)
local said = redis.pcall(unpack(all[1]))
if type(said) == 'table' and said.err then return said end
local count = type(said) == 'number' and said or said.ok == 'OK' and 1 or 0
if count == 0 then return {1, 0} end
for i = 2, #all do
  said = redis.pcall(unpack(all[i]))
  if type(said) == 'table' and said.err and not string.find(said.err, 'no such key', 1, true) then return said end
end
-- It is done, whether or not it can be remembered for a repeat.
if keep ~= '0' then redis.pcall('SET', request, count, 'PX', keep) end
return {1, count}
