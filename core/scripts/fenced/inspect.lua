-- Looks at the lock and changes nothing.
--
-- Inputs
--   tokens     the key that counts the tokens
--   owner      the field whose holds are counted
-- Replies
--   {1, ttl, count, token}  remaining ms (-1: no end, -2: the lock is free), the owner's holds, the token given out last (0: none yet)
--   {-4, found}             the key is something else, see _kind.lua
-- Redisson: remainTimeToLive, isLocked, getHoldCount, getToken
local lock, tokens = KEYS[1], KEYS[2]
local owner = ARGV[1]

local count = look('HGET', lock, owner)
if type(count) == 'table' then return other_kind(lock) end
return {1, redis.call('PTTL', lock), tonumber(count or 0), tonumber(redis.call('GET', tokens) or 0)}
