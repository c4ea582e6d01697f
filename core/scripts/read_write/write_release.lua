-- Gives back the writer's latest hold; the last one frees the lock, passes it on to another writer, or leaves it to the owner's reading.
--
-- Inputs
--   owner       the writer's field, <client uuid>:<number>:write
--   leave       the count that stays, 0 is the end: written, not subtracted, so that a repeat changes nothing
--   lease       ms that a lock with holds left lives at least, 0: as long as before
--   next_owner  the writer to pass on to; empty: none
--   next_lease  ms that the lock lives from now on with that owner
--   publish     PUBLISH or SPUBLISH
--   channel     where waiters listen
--   not_after   see _late.lua
-- Replies
--   {1, n}        done; n clients heard that they may try
--   {1, 0, left}  done; the holds that are left last for so many ms more, -1: without end; never less than before
--   {2}           passed on
--   {-1, n}  the owner's field is not there; nothing was changed; n is 1 if another owner holds the lock
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
-- Redisson: the unlock of RedissonWriteLock, which wakes no waiter if the owner goes on reading; nothing passes on
local lock = KEYS[1]
local owner, leave, lease, next_owner, next_lease = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local publish, channel, not_after = ARGV[6], ARGV[7], ARGV[8]

local refusal = late(not_after)
if refusal then return refusal end

-- The key may have become another kind of object, which is an error here: then the owner has lost the lock.
if look('HEXISTS', lock, owner) ~= 1 then
  if next_owner ~= '' and look('HEXISTS', lock, next_owner) == 1 then
    -- The heir counts its lease from the sending of this copy, not of the one before.
    redis.call('PEXPIRE', lock, next_lease)
    return {2}
  end
  return {-1, redis.call('EXISTS', lock)}
end
local time = redis.call('PTTL', lock)
if tonumber(leave) > 0 then
  local left = math.max(time, tonumber(lease))
  if left > 0 then redis.call('PEXPIRE', lock, left) end
  redis.call('HSET', lock, owner, leave)
  return {1, 0, left > 0 and left or time}
end
-- The script reads before its first write: while the slot moves, the keys of the holds may not be here.
local reading = longest_read(lock)
local function tell() return redis.call(publish, channel, '1') end
if reading > 0 then
  -- This removes nothing: it lifts the refusal of a full server, and proves that the user may run HDEL.
  redis.call('HDEL', lock, '')
  local heard = tell()
  redis.call('HSET', lock, 'mode', 'read')
  or_undo(function() redis.call('PEXPIRE', lock, reading) end, function() redis.call('HSET', lock, 'mode', 'write') end)
  redis.call('HDEL', lock, owner)
  return {1, heard}
end
if next_owner == '' then
  local heard = tell()
  redis.call('DEL', lock)
  return {1, heard}
end
local fields = redis.call('HKEYS', lock)
-- This removes nothing; see _heir.lua for why it comes first.
redis.call('HDEL', lock, next_owner)
-- Waiters of other clients sleep as long as the lock had to live: this message has them look again.
if time < 0 or tonumber(next_lease) < time then tell() end
let_in(lock, next_owner, next_lease)
-- The former owner, and its reading that has ended.
for _, field in ipairs(fields) do
  if field ~= 'mode' and field ~= next_owner then redis.call('HDEL', lock, field) end
end
return {2}
