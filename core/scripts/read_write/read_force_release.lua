-- Takes the lock away from all readers, if the reader that the caller names is among them: a late copy evicts no other reader.
--
-- Inputs
--   holder     the field to find; empty: only tell a reader
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
-- Replies
--   {1}          evicted
--   {0, holder}  this owner reads
--   {-1}         no owner reads, or one writes
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the forced unlock of RedissonReadLock
local lock = KEYS[1]
local holder, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local mode = look('HGET', lock, 'mode')
if type(mode) == 'table' or not mode and redis.call('EXISTS', lock) == 1 then return other_kind(lock) end
if mode ~= 'read' then return {-1} end
if holder ~= '' and redis.call('HEXISTS', lock, holder) == 1 then
  clear(lock, publish, channel, '0')
  return {1}
end
local readers = redis.call('HKEYS', lock)
table.sort(readers)
return {0, readers[1] == 'mode' and readers[2] or readers[1]}
