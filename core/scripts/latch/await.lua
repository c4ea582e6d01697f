-- Whether there is nothing left to be counted.
--
-- Replies
--   {1}      nothing
--   {0, -1}  something
--   {-4}     the key is something else
-- Redisson: the check of RedissonCountDownLatch's await
local latch = KEYS[1]

local there = tonumber(redis.call('GET', latch) or 0)
if not there then return {-4} end
if there <= 0 then return {1} end
return {0, -1}
