-- Gives the semaphore an end, with what is out, or takes it away.
--
-- Inputs
--   ttl        ms that it has left from now on; 0: without end
--   not_after  see _late.lua
-- Replies
--   {1, n}  n is 1 if that was changed, 0 if it is not there, or had no end to take away
-- Redisson: expire, clearExpire
local permits, leases = KEYS[1], KEYS[2]
local ttl, not_after = ARGV[1], ARGV[2]

local refusal = late(not_after)
if refusal then return refusal end

local function set(key)
  if ttl == '0' then return redis.call('PERSIST', key) end
  return redis.call('PEXPIRE', key, ttl)
end
set(leases)
return {1, set(permits)}
