-- Gives the semaphore, or the latch, an end, or takes it away.
--
-- Inputs
--   ttl        ms that it has left from now on; 0: without end
--   not_after  see _late.lua
-- Replies
--   {1, n}  n is 1 if that was changed, 0 if it is not there, or had no end to take away
-- Redisson: expire, clearExpire
local count = KEYS[1]
local ttl, not_after = ARGV[1], ARGV[2]

local refusal = late(not_after)
if refusal then return refusal end

if ttl == '0' then return {1, redis.call('PERSIST', count)} end
return {1, redis.call('PEXPIRE', count, ttl)}
