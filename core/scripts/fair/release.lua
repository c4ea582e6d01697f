-- Gives back the owner's latest hold; the last one frees the lock for the head of the queue.
--
-- Inputs
--   queue      the list of those who wait
--   deadlines  when each of them is given up
--   seen       when each of ours showed its last sign of life
--   owner      the field, <client uuid>:<number>
--   leave      the count that stays, 0 is the end: written, not subtracted, so that a repeat changes nothing
--   lease      ms that a lock with holds left lives at least, 0: as long as before
--   publish    PUBLISH or SPUBLISH
--   channel    before `:` and the owner, where each waiter listens
--   not_after  see _late.lua
-- Replies
--   {1}           done
--   {1, 0, left}  done; the holds that are left last for so many ms more, -1: without end; never less than before
--   {-1, n}  the owner's field is not there; nothing was changed; n is 1 if another owner holds the lock
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
-- Redisson: the unlock of RedissonFairLock, without its latch key
local lock, queue, deadlines, seen = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, leave, lease, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local refusal = late(not_after)
if refusal then return refusal end

-- The key may have become another kind of object, which is an error here: then the owner has lost the lock.
if look('HEXISTS', lock, owner) ~= 1 then return {-1, redis.call('EXISTS', lock)} end
if tonumber(leave) > 0 then
  local ttl = redis.call('PTTL', lock)
  local left = math.max(ttl, tonumber(lease))
  if left > 0 then redis.call('PEXPIRE', lock, left) end
  redis.call('HSET', lock, owner, leave)
  return {1, 0, left > 0 and left or ttl}
end
-- This removes nothing: a full server takes the command, and lifts its refusal for the rest of the script.
redis.call('HDEL', lock, '')
call(publish, channel, (living_head(queue, deadlines, seen, now_ms())))
redis.call('HDEL', lock, owner)
return {1}
