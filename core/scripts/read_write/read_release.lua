-- Gives back the reader's latest hold; with the last one of all the lock is free.
--
-- Inputs
--   owner      the reader's field, <client uuid>:<number>
--   leave      the count that stays, 0 is the end: written, not subtracted, so that a repeat changes nothing
--   lease      ms that the holds left last at least, 0: as long as before
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1, n}        done; n clients heard that the lock is free
--   {1, 0, left}  done; the holds that are left last for so many ms more; never less than the longest of the owner's holds did, which is how
--                 every reentrant lock does it: only the last release ends the time that one of the holds had asked for
--   {-1, n}       the owner's field is not there; nothing was changed; n is 1 if another owner holds the lock
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
--
-- A reader whose hold keys have all ended is dead, as for Redisson. Once no living reader is left the lock is free, and a writer waits no longer.
-- But some releases of Redisson (3.44 to 3.52) renew the lock and not the keys of their holds. Every other reader gives the lock and its key the
-- same end. So a lock that ends later than all keys was renewed last by such a reader: then it lives for what it has left, 30 s at most. Once
-- another reader has renewed it after that, nothing tells such a reader from a dead one, and it is taken for dead, as Redisson's own release does.
-- Redisson: the unlock of RedissonReadLock
local lock = KEYS[1]
local owner, leave, lease, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
-- Two writes of one script may fall into different ms.
local SAME = 100

local refusal = late(not_after)
if refusal then return refusal end

-- The key may have become another kind of object, which is an error here: then the owner has lost the lock.
if look('HEXISTS', lock, owner) ~= 1 then return {-1, redis.call('EXISTS', lock)} end
local count, ttl = tonumber(redis.call('HGET', lock, owner)), redis.call('PTTL', lock)
-- The script reads all keys before its first write: while the slot moves, some of them may not be here.
local own = longest_of(lock, owner, count)
if tonumber(leave) > 0 then
  local left = math.max(own, tonumber(lease))
  if left > 0 then
    redis.call('PEXPIRE', lock, math.max(ttl, left))
    -- The holds that are left are not always the oldest: any of them may be the one that lasts longest.
    for number = 1, leave do redis.call('SET', hold_key(lock, owner, number), 1, 'PX', left) end
  end
  redis.call('HSET', lock, owner, leave)
  tidy_up(lock, owner, leave + 1, count)
  return {1, 0, left}
end
local is_writing = redis.call('HGET', lock, 'mode') == 'write'
local others = is_writing and 0 or longest_read(lock, owner)
if ttl > math.max(own, others) + SAME then others = math.max(others, math.min(30000, ttl)) end
-- A writer that also reads has its own time. Beside the mode and this reader there may be other readers.
if is_writing or others > 0 and redis.call('HLEN', lock) > 2 then
  redis.call('HDEL', lock, owner)
  -- A refusal from here on only makes the lock live longer than is needed.
  if not is_writing then redis.pcall('PEXPIRE', lock, others) end
  tidy_up(lock, owner, 1, count)
  return {1, 0}
end
local heard = redis.call(publish, channel, '0')
redis.call('DEL', lock)
tidy_up(lock, owner, 1, count)
return {1, heard}
