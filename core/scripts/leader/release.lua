-- Ends the owner's term: frees the lock, and deletes the place beside it. It passes the lock on to no waiter: each term begins with a value of its own.
--
-- Inputs
--   owner      the field, <client uuid>:<number>
--   leave      the count that stays, because the owner has holds by other kinds; 0 is the end
--   lease      ms that a lock with holds left lives at least, 0: as long as before
--   place      the key that says whose the term is; an argument and not a key, so that a moving slot does not stop the call
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen, and those that observe the leader
--   not_after  see _late.lua
-- Replies
--   {1, n}        done; n clients heard that the lock is free
--   {1, 0, left}  done; the holds that are left last for so many ms more, -1: without end; never less than before
--   {-1, n}       the owner's field is not there; nothing was changed; n is 1 if another owner holds the lock
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
local lock = KEYS[1]
local owner, leave, lease, place = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local publish, channel, not_after = ARGV[5], ARGV[6], ARGV[7]

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
local heard = redis.call(publish, channel, '0')
redis.call('HDEL', lock, owner)
-- The place is this owner's: the lock was. If the server refuses that, it says nothing from now on, and ends by itself.
redis.pcall('DEL', place)
return {1, heard}
