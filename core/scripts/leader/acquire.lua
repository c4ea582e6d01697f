-- Takes the lock for a new term, unless the owner has it already; draws the term's token, and writes it with the leader's value to the place beside
-- the lock.
--
-- Inputs
--   tokens     the key that counts the tokens; it outlives the lock
--   place      the key that says whose the term is, see _term.lua
--   lease      ms that the keys live from now on; an own lock keeps a longer time that it already has
--   owner      the field, <client uuid>:<number>
--   want       the count of holds that the owner asks for: 1, or more where it knows that it has one
--   value      the leader's own text, any bytes
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen, and those that observe the leader
--   not_after  see _late.lua
-- Replies
--   {1, token}   held
--   {0, ttl}     another owner holds the lock for ttl ms more, -1: without end
--   {-1, n}      the hold that the owner believes to have is gone; nothing was changed; n is 1 if another owner holds the lock
--   {-3}         the owner holds it already
--   {-4, found}  the key is something else, see _kind.lua
local lock, tokens, place = KEYS[1], KEYS[2], KEYS[3]
local lease, owner, want, value = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local publish, channel, not_after = ARGV[5], ARGV[6], ARGV[7]

local refusal = late(not_after)
if refusal then return refusal end

local held = look('HEXISTS', lock, owner)
if type(held) == 'table' then return other_kind(lock) end
local ttl = redis.call('PTTL', lock)
if held == 1 then
  if tonumber(want) > 1 then return {-3} end
elseif tonumber(want) > 1 then
  return {-1, ttl == -2 and 0 or 1}
elseif ttl ~= -2 then
  return redis.call('HLEN', lock) > 1 and other_kind(lock) or {0, ttl}
end
-- The token first: what is refused after it has used up a number, and nothing else.
local token = draw(tokens, 0)
if type(token) ~= 'number' then return token end
-- The place has its end from the first moment, and says nothing without the owner's field.
redis.call('SET', place, owner .. string.format(' %.0f ', token) .. value, 'PX', math.max(ttl, lease))
if held == 1 and ttl < tonumber(lease) then redis.call('PEXPIRE', lock, lease) end
redis.call('HSET', lock, owner, 1)
if held ~= 1 then end_after(lock, lease, owner) end
-- Observers look again. A waiter of the lock tries in vain; terms are rare. Without this message observers learn it when they next look.
pcall(function() redis.call(publish, channel, '0') end)
return {1, token}
