-- Looks at the semaphore, or the latch, and changes nothing.
--
-- Replies
--   {1, n, ttl}  n permits are available, or n is the latch's count; ms left, -1: without end, -2: it is not there
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: availablePermits, getCount, remainTimeToLive
local count = KEYS[1]

local there = look('GET', count) or '0'
if not is_number(there) then return other_kind(count) end
return {1, tonumber(there), redis.call('PTTL', count)}
