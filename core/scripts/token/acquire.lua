-- Takes the lock, as `SET lock token NX PX lease` does, unless the owner has it already.
--
-- Inputs
--   lease      ms that the key lives from now on; an own key keeps a longer time that it already has
--   token      the owner, <client uuid>:<number>
--   want       the count of holds that the owner asks for: 1, or more where it knows that it has one
--   not_after  see _late.lua
-- Replies
--   {1}          held
--   {0, ttl}     another owner holds the lock for ttl ms more, -1: without end
--   {-1, n}      the hold that the owner believes to have is gone; nothing was changed; n is 1 if another owner holds the lock
--   {-3}         the owner holds it already
--   {-4, found}  the key is something else, see _kind.lua
local lock = KEYS[1]
local lease, token, want, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local value = look('GET', lock)
if type(value) == 'table' then return other_kind(lock) end
if value == token then
  if tonumber(want) > 1 then return {-3} end
  -- A repeat, or the owner has given its hold up for lost too early.
  redis.call('PEXPIRE', lock, math.max(redis.call('PTTL', lock), lease))
  return {1}
end
if tonumber(want) > 1 then return {-1, value and 1 or 0} end
if value then return {0, redis.call('PTTL', lock)} end
redis.call('SET', lock, token, 'PX', lease)
return {1}
