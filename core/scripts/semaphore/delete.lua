-- Deletes the semaphore, or the latch, and has its waiters look.
--
-- Inputs
--   message    what waiters of a latch are told; empty: nothing
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1, n}  n is 1 if there was one
-- Redisson: the delete of RedissonSemaphore and RedissonCountDownLatch
local count = KEYS[1]
local message, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

if message ~= '' and redis.call('EXISTS', count) == 1 then redis.call(publish, channel, message) end
return {1, redis.call('DEL', count)}
