-- Gives back the permits of a request that may have taken them without an answer. No copy of the request can come any more. A semaphore that was
-- deleted and made anew meanwhile gets the permits, as it gets those of any caller that took them from the former one: the wire has one number, and
-- no mark of the semaphore that it belongs to.
--
-- Inputs
--   request    see _once.lua
--   count      how many it asked for
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1}  nothing is left of it
local permits, request = KEYS[1], KEYS[2]
local count, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

-- A full server takes the first write. The request goes after its permits: else a refusal would lose the permits.
if redis.call('PEXPIRE', request, redis.call('PTTL', request)) == 1 then
  -- A semaphore that was deleted is not to come back.
  local now = redis.call('EXISTS', permits) == 1 and redis.call('INCRBY', permits, count)
  or_undo(function()
    -- No message tells a count below zero: Redisson's listeners fail with one.
    if now and now >= 0 then redis.call(publish, channel, now) end
    redis.call('DEL', request)
  end, function() if now then redis.call('DECRBY', permits, count) end end)
end
return {1}
