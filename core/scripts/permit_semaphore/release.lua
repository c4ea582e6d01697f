-- Gives permits back by their ids, all or none.
--
-- Inputs
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   resent     1: a copy of this call may have run before
--   not_after  see _late.lua
--   ids        from the fifth argument on
-- Replies
--   {1, n}  n are given back
--   {0}     one of them is not there, or not any more; nothing was changed but for those that had ended
-- Redisson: the tryRelease of RedissonPermitExpirableSemaphore
local permits, leases = KEYS[1], KEYS[2]
local publish, channel, resent, not_after, ids = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV

local refusal = late(not_after)
if refusal then return refusal end

reap(permits, leases, publish, channel)
local missing, count, scores = 0, #ids - 4, {}
for i = 5, #ids do
  scores[i] = redis.call('ZSCORE', leases, ids[i])
  if not scores[i] then missing = missing + 1 end
end
-- Had the copy found one of them missing, it would have left the others there.
if missing == count and resent == '1' then return {1, count} end
if missing > 0 then return {0} end
local removed, available = 0, nil
for i = 5, #ids do removed = removed + redis.call('ZREM', leases, ids[i]) end
or_undo(function()
  available = redis.call('INCRBY', permits, removed)
  tell(available, publish, channel)
end, function()
  for i = 5, #ids do redis.call('ZADD', leases, scores[i], ids[i]) end
  if available then redis.call('DECRBY', permits, removed) end
end)
return {1, removed}
