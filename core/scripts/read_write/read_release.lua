-- Gives back the reader's latest hold; with the last one of all the lock is free.
--
-- Inputs
--   owner      the reader's field, <client uuid>:<number>
--   leave      the count that stays, 0 is the end: written, not subtracted, so that a repeat changes nothing
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1, n}   done; n clients heard that the lock is free
--   {-1, n}  the owner's field is not there; nothing was changed; n is 1 if somebody else holds the lock
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
-- Redisson: the unlock of RedissonReadLock. It frees the lock when no reader has a key of a hold left; some releases of it lose theirs
-- while they read, so here the lock then lives for what it has left, and 30 s at most.
local lock = KEYS[1]
local owner, leave, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local refusal = late(not_after)
if refusal then return refusal end

-- A key that somebody has made into something else is an error here: the owner has lost it.
if look('HEXISTS', lock, owner) ~= 1 then return {-1, redis.call('EXISTS', lock)} end
for number = leave + 1, tonumber(redis.call('HGET', lock, owner)) do
  redis.call('DEL', hold_key(lock, owner, number))
end
if tonumber(leave) > 0 then
  redis.call('HSET', lock, owner, leave)
else
  redis.call('HDEL', lock, owner)
end
if redis.call('HLEN', lock) == 1 then
  redis.call('DEL', lock)
  return {1, redis.call(publish, channel, '0')}
end
-- A writer who also read has its own time.
if redis.call('HGET', lock, 'mode') == 'read' then
  local longest = longest_read(lock)
  if longest == 0 then longest = math.min(30000, redis.call('PTTL', lock)) end
  if longest > 0 then redis.call('PEXPIRE', lock, longest) end
end
return {1, 0}
