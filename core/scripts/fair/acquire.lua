-- Takes the lock if it is free and the owner's turn, or one more hold of a lock that the owner has; else the owner stands in the queue.
--
-- Inputs
--   queue      the list of waiters
--   deadlines  the time at which the queue gives each of them up
--   seen       the time of the last sign of life of each of ours
--   lease      ms that the key lives from now on; an own key keeps a longer time that it already has
--   owner      the field, <client uuid>:<number>
--   want       the count that the field gets: written, not added, so that a repeat changes nothing
--   again      1: the owner may take it again while it has it; else 0
--   stands     1: the owner waits, so it stands in the queue and asks again; 0: it asks once
--   share      ms that a client of Redisson stands in the queue
--   publish    PUBLISH or SPUBLISH
--   channel    before `:` and the owner, where each waiter listens
--   not_after  see _late.lua
-- Replies
--   {1}          held
--   {0, ms}      not now; ask again after so many ms at the latest
--   {-1, n}      the outer holds that `want` builds on are gone; nothing was changed; n is 1 if another owner holds the lock
--   {-3}         the owner holds it already
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the acquire of RedissonFairLock and of RedissonNonReentrantFairLock
local lock, queue, deadlines, seen = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local lease, owner, want, again, stands = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local share, publish, channel, not_after = ARGV[6], ARGV[7], ARGV[8], ARGV[9]

local refusal = late(not_after)
if refusal then return refusal end

local held = look('HEXISTS', lock, owner)
if held == 1 then
  if again == '0' and tonumber(want) > 1 then return {-3} end
  -- It stood in the queue before it got the lock by another kind.
  local stood = redis.call('ZSCORE', deadlines, owner)
  if redis.call('PTTL', lock) < tonumber(lease) then redis.call('PEXPIRE', lock, lease) end
  redis.call('HSET', lock, owner, want)
  if stood then remove(queue, deadlines, seen, owner) end
  return {1}
end
if type(held) == 'table' then return other_kind(lock) end
local ttl = redis.call('PTTL', lock)
if tonumber(want) > 1 then return {-1, ttl == -2 and 0 or 1} end
if ttl ~= -2 and redis.call('HLEN', lock) > 1 then return other_kind(lock) end

local now = now_ms()
if stands == '1' then show(seen, owner, now) end
local head, fresh = living_head(queue, deadlines, seen, now)
if ttl == -2 and (not head or head == owner) then
  redis.call('HSET', lock, owner, want)
  end_after(lock, lease, owner)
  if head then
    or_undo(function() remove(queue, deadlines, seen, owner) end, function() redis.call('HDEL', lock, owner) end)
  end
  return {1}
end
-- A head of Redisson may sleep over a free lock: for good before 3.32, where it reckons itself when a lease ends; else if it missed its message.
if ttl == -2 and (fresh or not redis.call('ZSCORE', seen, head)) then call(publish, channel, head) end
if stands == '0' then return {0, ttl} end
-- A waiter that may not leave the queue is not to come into it: to leave, which changes nothing yet, shows that it may.
if not redis.call('ZSCORE', deadlines, owner) then remove(queue, deadlines, seen, owner) end
stand(queue, deadlines, seen, owner, now, share)
if ttl == -2 then ttl = math.max(50, (end_of(deadlines, seen, head, now) or 0) - now) end
return {0, ttl < 0 and BEAT or math.min(ttl, BEAT)}
