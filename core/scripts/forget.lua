-- Forgets requests that have been answered, see _once.lua.
--
-- Replies
--   {1}  always
local requests = KEYS

redis.call('DEL', unpack(requests))
return {1}
