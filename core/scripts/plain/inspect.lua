-- Looks at the lock and changes nothing.
--
-- Inputs
--   owner      the field whose holds are counted
-- Replies
--   {1, ttl, count}  remaining ms (-1: no end, -2: nobody holds it) and the owner's holds
-- Redisson: remainTimeToLive, isLocked, getHoldCount
local lock = KEYS[1]
local owner = ARGV[1]

return {1, redis.call('PTTL', lock), tonumber(redis.call('HGET', lock, owner) or 0)}
