-- Looks at the lock and changes nothing.
--
-- Inputs
--   owner      the field whose holds are counted
-- Replies
--   {1, ttl, count}  remaining ms (-1: no end, -2: the lock is free) and the owner's holds
--   {-4, found}      the key is something else, see _kind.lua
-- Redisson: remainTimeToLive, isLocked, getHoldCount
local lock = KEYS[1]
local owner = ARGV[1]

local count = look('HGET', lock, owner)
if type(count) == 'table' then return other_kind(lock) end
return {1, redis.call('PTTL', lock), tonumber(count or 0)}
