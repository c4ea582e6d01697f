-- Whether there is nothing left to be counted.
--
-- Replies
--   {1}      nothing
--   {0, -1}  something
-- Redisson: the check of RedissonCountDownLatch's await
local latch = KEYS[1]

if tonumber(redis.call('GET', latch) or 0) <= 0 then return {1} end
return {0, -1}
