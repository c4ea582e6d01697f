-- Counts one down; the last one opens the latch and deletes its key.
--
-- Inputs
--   request    see _once.lua
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, n}       n are left
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the countDown of RedissonCountDownLatch
local latch, request = KEYS[1], KEYS[2]
local publish, channel, keep, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local before = answered(request)
if before then return {1, before} end
local there = look('GET', latch) or '0'
if not is_count(there) then return other_kind(latch) end
there = tonumber(there)
if there == 0 then return {1, 0} end
make_way(request)
if there == 1 then
  redis.call(publish, channel, '0')
  remember(request, 0, keep)
  redis.call('DEL', latch)
else
  redis.call('DECR', latch)
  or_undo(function() remember(request, there - 1, keep) end, function() redis.call('INCR', latch) end)
end
return {1, there - 1}
