-- Sets the count of permits, unless there is one.
--
-- Inputs
--   request    see _once.lua
--   count      how many permits
--   ttl        ms that they live; 0: without end
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, 1}       set
--   {1, 0}       there is one already
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the trySetPermits of RedissonSemaphore
local permits, request = KEYS[1], KEYS[2]
local count, ttl, publish, channel, keep, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local refusal = late(not_after)
if refusal then return refusal end

if answered(request) then return {1, 1} end
local there = look('GET', permits)
if there then return is_number(there) and {1, 0} or other_kind(permits) end
redis.call(publish, channel, count)
redis.call('SET', permits, count, unpack(ttl == '0' and {} or {'PX', ttl}))
or_undo(function() remember(request, 1, keep) end, function() redis.call('DEL', permits) end)
return {1, 1}
