-- Deletes the semaphore, or the latch, and has its waiters look.
--
-- Inputs
--   request    see _once.lua
--   message    the message to the waiters of a latch; empty: there is none
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, n}  n is 1 if there was one
-- Redisson: the delete of RedissonSemaphore and RedissonCountDownLatch
local count, request = KEYS[1], KEYS[2]
local message, publish, channel, keep, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local refusal = late(not_after)
if refusal then return refusal end

local before = answered(request)
if before then return {1, before} end
if redis.call('EXISTS', count) == 0 then return {1, 0} end
if message ~= '' then redis.call(publish, channel, message) end
make_way(request)
remember(request, 1, keep)
redis.call('DEL', count)
return {1, 1}
