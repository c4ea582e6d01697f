-- Tells how long a permit lasts, and changes nothing.
--
-- Inputs
--   id  of the permit
-- Replies
--   {1, ms}  ms that it has left; -1: without end
--   {0}      it is not there, or not any more
-- Redisson: the getLeaseTime of RedissonPermitExpirableSemaphore
local leases = KEYS[1]
local id = ARGV[1]

local left = tonumber(redis.call('ZSCORE', leases, id) or 0) - now()
if left <= 0 then return {0} end
return {1, left < NEVER / 2 and left or -1}
