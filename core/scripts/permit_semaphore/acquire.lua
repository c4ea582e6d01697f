-- Takes permits, all or none, each under an id of its own.
--
-- Inputs
--   lease      ms that each lasts from now on; 0: without end
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
--   ids        from the fifth argument on, 16 bytes for each permit
-- Replies
--   {1}               taken
--   {0, ms, n, free}  not now; in ms the next permit ends, -1: none does; n is 1 if there is such a semaphore, 0 if its permits were never
--                     set; so many are available
--   {-4, found}       the key is something else, see _kind.lua
-- The ids are the caller's: those of a repeat are there already.
-- Redisson: the acquire of RedissonPermitExpirableSemaphore, which takes the time from the client
local permits, leases = KEYS[1], KEYS[2]
local lease, publish, channel, not_after, ids = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV

local refusal = late(not_after)
if refusal then return refusal end

reap(permits, leases, publish, channel)
local there = look('GET', permits)
if there and not is_number(there) then return other_kind(permits) end
local count, score, ttl = #ids - 4, ending(lease), redis.call('PTTL', permits)
local function put()
  for i = 5, #ids do redis.call('ZADD', leases, score, ids[i]) end
  if ttl > 0 then redis.call('PEXPIRE', leases, ttl) end
end
if redis.call('ZSCORE', leases, ids[5]) then
  -- The ZREMRANGEBYSCORE removes nothing: a full server takes it, and lifts its refusal. The first ZADD gives another end: so the script writes even if
  -- a repeat finds the end that it would give.
  redis.call('ZREMRANGEBYSCORE', leases, 1, 0)
  if ttl > 0 then redis.call('PEXPIRE', leases, ttl) end
  redis.call('ZADD', leases, score - 1, ids[5])
  put()
else
  if not there or tonumber(there) < count then
    local next = tonumber(redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')[2] or NEVER)
    return {0, next < NEVER and math.max(1, next - now()) or -1, there and 1 or 0, tonumber(there or 0)}
  end
  redis.call('DECRBY', permits, count)
  or_undo(put, function()
    redis.call('INCRBY', permits, count)
    for i = 5, #ids do redis.call('ZREM', leases, ids[i]) end
  end)
end
return {1}
