-- Takes the lock, or one more hold of a lock that the owner has.
--
-- Inputs
--   lease      ms that the key lives from now on; an own key keeps a longer time that it already has
--   owner      the field, <client uuid>:<number>
--   want       the count that the field gets: written, not added, so that a repeat changes nothing
--   not_after  see _late.lua
-- Replies
--   {1}          held
--   {0, ttl}     another owner holds the lock for ttl ms more, -1: without end
--   {-1, n}      the outer holds that `want` builds on are gone; nothing was changed; n is 1 if another owner holds the lock
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the acquire of RedissonLock
local lock = KEYS[1]
local lease, owner, want, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local ttl = redis.call('PTTL', lock)
if ttl == -2 then
  if tonumber(want) > 1 then return {-1, 0} end
  redis.call('HSET', lock, owner, want)
  end_after(lock, lease, owner)
  return {1}
end
local held = look('HEXISTS', lock, owner)
if held == 1 then
  if ttl < tonumber(lease) then redis.call('PEXPIRE', lock, lease) end
  redis.call('HSET', lock, owner, want)
  return {1}
end
if type(held) == 'table' then return other_kind(lock) end
if tonumber(want) > 1 then return {-1, 1} end
-- A lock has one field; a read-write lock and a group have more.
if redis.call('HLEN', lock) > 1 then return other_kind(lock) end
return {0, ttl}
