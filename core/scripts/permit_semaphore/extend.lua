-- Gives a permit that is out another end.
--
-- Inputs
--   lease      ms that it lasts from now on; 0: without end
--   id         of the permit
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1}  done
--   {0}  it is not there, or not any more
-- A waiter sleeps until the next permit ends. So the script publishes an end that comes earlier now, which Redisson does not do.
-- Redisson: the updateLeaseTime of RedissonPermitExpirableSemaphore
local permits, leases = KEYS[1], KEYS[2]
local lease, id, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local refusal = late(not_after)
if refusal then return refusal end

reap(permits, leases, publish, channel)
local before = redis.call('ZSCORE', leases, id)
if not before then return {0} end
local score = ending(lease)
-- This removes nothing: a full server takes the command, and lifts its refusal for the rest of the script.
redis.call('ZREMRANGEBYSCORE', leases, 1, 0)
redis.call('ZADD', leases, score, id)
if score < tonumber(before) then
  or_undo(function()
    redis.call(publish, channel, math.max(0, redis.call('GET', permits) or 0))
  end, function() redis.call('ZADD', leases, before, id) end)
end
return {1}
