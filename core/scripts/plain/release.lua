-- Gives back the owner's latest hold, and the lock with the last one.
--
-- Inputs
--   owner      the field, <client uuid>:<number>
--   leave      the count that stays, 0 frees the lock: written, not subtracted, so that a repeat changes nothing
--   lease      ms that a lock with holds left lives at least, 0: as long as before
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen; an argument and not a key, so that a moving slot does not stop the call
--   not_after  see _late.lua
-- Replies
--   {1, n}     done; n clients heard that the lock is free
--   {-1}       the owner's field is not there; nothing was changed
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
-- Redisson: the unlock of RedissonLock, without its latch key
local lock = KEYS[1]
local owner, leave, lease, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local refusal = late(not_after)
if refusal then return refusal end

if redis.call('HEXISTS', lock, owner) == 0 then return {-1} end
if tonumber(leave) > 0 then
  local time = math.max(redis.call('PTTL', lock), tonumber(lease))
  if time > 0 then redis.call('PEXPIRE', lock, time) end
  redis.call('HSET', lock, owner, leave)
  return {1, 0}
end
redis.call('HDEL', lock, owner)
return {1, redis.call(publish, channel, '0')}
