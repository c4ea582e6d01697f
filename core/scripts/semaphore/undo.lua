-- Gives back what a request may have taken of which nobody knows. No copy of it can come any more.
--
-- Inputs
--   request    see _once.lua
--   count      how many it asked for
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1}  nothing is left of it
local permits, request = KEYS[1], KEYS[2]
local count, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

if redis.call('DEL', request) == 1 then redis.call(publish, channel, redis.call('INCRBY', permits, count)) end
return {1}
