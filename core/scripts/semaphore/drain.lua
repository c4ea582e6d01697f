-- Takes all permits that are available.
--
-- Inputs
--   request    see _once.lua
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, n}       n were taken
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the drainPermits of RedissonSemaphore
local permits, request = KEYS[1], KEYS[2]
local keep, not_after = ARGV[1], ARGV[2]

local refusal = late(not_after)
if refusal then return refusal end

local before = answered(request)
if before then return {1, before} end
local there = look('GET', permits) or '0'
if not is_number(there) then return other_kind(permits) end
there = tonumber(there)
if there <= 0 then return {1, 0} end
redis.call('DECRBY', permits, there)
or_undo(function() remember(request, there, keep) end, function() redis.call('INCRBY', permits, there) end)
return {1, there}
