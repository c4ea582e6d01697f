-- Gives permits back, or adds new ones: the script does not ask where they come from.
--
-- Inputs
--   request    see _once.lua
--   count      how many; taken away if it is negative
--   existing   1: only if there is such a semaphore; 0: else it begins with these
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, n}       done; n are available now
--   {0}          there is no such semaphore
--   {-4, found}  the key is something else, see _kind.lua
-- No message tells a count below zero: Redisson's listeners fail with one.
-- Redisson: the release, releaseIfExists and addPermits of RedissonSemaphore
local permits, request = KEYS[1], KEYS[2]
local count, existing, publish, channel, keep, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local refusal = late(not_after)
if refusal then return refusal end

local before = answered(request)
if before then return {1, before} end
if existing == '1' and redis.call('EXISTS', permits) == 0 then return {0} end
make_way(request)
local now = redis.pcall('INCRBY', permits, count)
if type(now) == 'table' then
  local there = look('GET', permits)
  return there and not is_number(there) and other_kind(permits) or now
end
or_undo(function()
  if now >= 0 then redis.call(publish, channel, now) end
  remember(request, now, keep)
end, function() redis.call('DECRBY', permits, count) end)
return {1, now}
