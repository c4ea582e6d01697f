-- Sets the number of permits. Permits that are out count: with too many out the number of available permits is below zero.
--
-- Inputs
--   count      how many
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1, n}       n are available now
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the setPermits of RedissonPermitExpirableSemaphore
local permits, leases = KEYS[1], KEYS[2]
local count, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local there, available = look('GET', permits), tonumber(count)
if there and not is_number(there) then return other_kind(permits) end
if there then available = available - redis.call('ZCARD', leases) end
-- The message comes first: it cannot be taken back.
tell(available, publish, channel)
if there then redis.call('INCRBY', permits, available - there) else redis.call('SET', permits, count) end
return {1, available}
