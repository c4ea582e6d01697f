-- Sets the count of a latch, unless the latch has one.
--
-- Inputs
--   request    see _once.lua
--   count      the count
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, 1}       set
--   {1, 0}       the latch has a count already
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the trySetCount of RedissonCountDownLatch
local latch, request = KEYS[1], KEYS[2]
local count, publish, channel, keep, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local refusal = late(not_after)
if refusal then return refusal end

if answered(request) then return {1, 1} end
local there = look('GET', latch)
if there then return is_count(there) and {1, 0} or other_kind(latch) end
redis.call(publish, channel, '1')
redis.call('SET', latch, count)
or_undo(function() remember(request, 1, keep) end, function() redis.call('DEL', latch) end)
return {1, 1}
