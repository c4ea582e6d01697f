-- Looks at the semaphore, and changes nothing.
--
-- Replies
--   {1, n, ttl, m}  n permits are available, those that have ended among them; ms that it has left, -1: without end, -2: it is not there;
--                   m are out
--   {-4, found}     the key is something else, see _kind.lua
-- Redisson: availablePermits, acquiredPermits, getPermits, remainTimeToLive
local permits, leases = KEYS[1], KEYS[2]

local there = look('GET', permits) or '0'
if not is_number(there) then return other_kind(permits) end
local ended = redis.call('ZCOUNT', leases, 0, now())
local available = tonumber(there) + ended
return {1, available, redis.call('PTTL', permits), redis.call('ZCARD', leases) - ended}
