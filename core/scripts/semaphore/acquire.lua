-- Takes permits, all or none.
--
-- Inputs
--   request    see _once.lua
--   count      how many
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1}               taken
--   {0, -1, n, free}  not now; n is 1 if there is such a semaphore, 0 if its permits were never set; so many are available
--   {-4, found}       the key is something else, see _kind.lua
-- Redisson: the acquire of RedissonSemaphore
local permits, request = KEYS[1], KEYS[2]
local count, keep, not_after = ARGV[1], ARGV[2], ARGV[3]

local refusal = late(not_after)
if refusal then return refusal end

if answered(request) then
  redis.call('PEXPIRE', request, keep)
  return {1}
end
local there = look('GET', permits)
if there and not is_number(there) then return other_kind(permits) end
if not there or tonumber(there) < tonumber(count) then return {0, -1, there and 1 or 0, tonumber(there or 0)} end
redis.call('DECRBY', permits, count)
or_undo(function() remember(request, 1, keep) end, function() redis.call('INCRBY', permits, count) end)
return {1}
