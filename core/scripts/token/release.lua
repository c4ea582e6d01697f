-- Gives the lock back, as a script that compares and deletes does, or passes it on to another owner.
--
-- Inputs
--   token       the owner, <client uuid>:<number>
--   next_token  the owner to pass on to; empty: none
--   next_lease  ms that the lock lives from now on with that owner
--   publish     PUBLISH or SPUBLISH
--   channel     where waiters of this library listen
--   not_after   see _late.lua
-- Replies
--   {1, n}   done; n clients heard that the lock is free
--   {2}      passed on
--   {-1, n}  the owner does not hold it; nothing was changed; n is 1 if another owner does
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
local lock = KEYS[1]
local token, next_token, next_lease, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local refusal = late(not_after)
if refusal then return refusal end

-- The key may have become another kind of object, which is an error here: then the owner has lost the lock.
local value = look('GET', lock)
if value ~= token then
  if next_token ~= '' and value == next_token then
    -- The heir counts its lease from the sending of this copy, not of the one before.
    redis.call('PEXPIRE', lock, next_lease)
    return {2}
  end
  return {-1, redis.call('EXISTS', lock)}
end
if next_token == '' then
  local heard = redis.call(publish, channel, '0')
  redis.call('DEL', lock)
  return {1, heard}
end
local time = redis.call('PTTL', lock)
-- Waiters of other clients sleep as long as the lock had to live: this message has them look again.
if time < 0 or tonumber(next_lease) < time then redis.call(publish, channel, '0') end
redis.call('PEXPIRE', lock, math.max(time, next_lease))
redis.call('SET', lock, next_token, 'PX', next_lease)
return {2}
