-- Looks at the lock and changes nothing.
--
-- Inputs
--   token      the owner whose hold is counted
-- Replies
--   {1, ttl, count}  remaining ms (-1: no end, -2: nobody holds it) and the owner's holds: 1 or 0
local lock = KEYS[1]
local token = ARGV[1]

return {1, redis.call('PTTL', lock), redis.call('GET', lock) == token and 1 or 0}
