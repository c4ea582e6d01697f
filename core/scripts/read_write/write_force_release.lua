-- Takes the lock away from the writer that the caller names: a late copy evicts no other holder.
--
-- Inputs
--   holder     the writer's field; empty: only tell the writer
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1}          evicted
--   {0, holder}  this owner writes
--   {-1}         no owner writes
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the forced unlock of RedissonWriteLock
local lock = KEYS[1]
local holder, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local mode = look('HGET', lock, 'mode')
if type(mode) == 'table' or not mode and redis.call('EXISTS', lock) == 1 then return other_kind(lock) end
if mode ~= 'write' then return {-1} end
if redis.call('HEXISTS', lock, holder) == 1 then
  clear(lock, publish, channel, '1')
  return {1}
end
for _, field in ipairs(redis.call('HKEYS', lock)) do
  if is_writer(field) then return {0, field} end
end
return {-1}
