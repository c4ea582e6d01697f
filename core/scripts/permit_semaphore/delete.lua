-- Deletes the semaphore, with the permits that are out. It wakes no waiter: there is no permit to take.
--
-- Inputs
--   request    see _once.lua
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, n}  n is 1 if there was one
-- Redisson: the delete of RedissonPermitExpirableSemaphore
local permits, leases, request = KEYS[1], KEYS[2], KEYS[3]
local keep, not_after = ARGV[1], ARGV[2]

local refusal = late(not_after)
if refusal then return refusal end

local before = answered(request)
if before then return {1, before} end
if redis.call('EXISTS', permits, leases) == 0 then return {1, 0} end
make_way(request)
remember(request, 1, keep)
redis.call('DEL', permits, leases)
return {1, 1}
