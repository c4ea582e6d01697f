-- Takes the lock away from the holder that the caller names: a late copy evicts no other holder.
--
-- Inputs
--   holder     the field to evict; empty: only tell the holder
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen; empty: none listens
--   not_after  see _late.lua
-- Replies
--   {1}          evicted
--   {0, holder}  this owner holds it
--   {-1}         no owner holds it
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the forced unlock of RedissonLock
local lock = KEYS[1]
local holder, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local fields = look('HKEYS', lock)
if fields.err or fields[2] then return other_kind(lock) end
if fields[1] == holder then
  if channel ~= '' then redis.call(publish, channel, '0') end
  redis.call('DEL', lock)
  return {1}
end
if fields[1] then return {0, fields[1]} end
return {-1}
