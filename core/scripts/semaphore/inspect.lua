-- Looks at the semaphore, or the latch, and changes nothing.
--
-- Replies
--   {1, n, ttl}  so many permits are available, or so much is still to be counted; ms that it has left, -1: without end, -2: it is not there
-- Redisson: availablePermits, getCount, remainTimeToLive
local count = KEYS[1]

return {1, tonumber(redis.call('GET', count) or 0), redis.call('PTTL', count)}
