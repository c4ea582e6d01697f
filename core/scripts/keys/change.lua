-- Changes the keys of an object. The first command decides: if it does nothing, or fails, the script leaves the others out. The others
-- name companions of the object, which need not be there.
--
-- Inputs
--   keys       the keys that the commands name; the last one is the request, see _once.lua
--   keep       ms that the request is remembered
--   not_after  see _late.lua
--   words      from the third argument on, see _commands.lua
-- Replies
--   {1, n}    the count of the first command; 1 if it says OK, 0 if the key is missing
--   an error  the server's own
local keys = KEYS
local keep, not_after, words = ARGV[1], ARGV[2], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local request = keys[#keys]
local before = answered(request)
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
-- The change is done, even if the server refuses to remember it for a repeat.
redis.pcall('SET', request, count, 'PX', keep)
return {1, count}
