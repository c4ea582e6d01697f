-- Deletes the semaphore, with what is out. Waiters are told nothing: there is nothing for them.
--
-- Inputs
--   not_after  see _late.lua
-- Replies
--   {1, n}  n is 1 if there was one
-- Redisson: the delete of RedissonPermitExpirableSemaphore
local permits, leases = KEYS[1], KEYS[2]
local not_after = ARGV[1]

local refusal = late(not_after)
if refusal then return refusal end

return {1, math.min(1, redis.call('DEL', permits, leases))}
