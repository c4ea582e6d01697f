-- Takes the lock for writing, or one more such hold: unless another owner reads or writes, or this one reads.
--
-- Inputs
--   lease      ms that the key lives from now on; an own key keeps a longer time that it already has
--   owner      the writer's field, <client uuid>:<number>:write
--   want       the count that the field gets: written, not added, so that a repeat changes nothing
--   reader     the same owner's field as a reader
--   forever    1: the owner waits until it has the lock; else 0
--   not_after  see _late.lua
-- Replies
--   {1}          held
--   {0, ttl}     another owner reads or writes; the key lives for ttl ms more, -1: without end
--   {-1, n}      the outer holds that `want` builds on are gone; nothing was changed; n is 1 if another owner holds the lock
--   {-3}         the owner reads, and would wait for itself for ever
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the acquire of RedissonWriteLock
local lock = KEYS[1]
local lease, owner, want, reader, forever, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local refusal = late(not_after)
if refusal then return refusal end

local mode, ttl = look('HGET', lock, 'mode'), redis.call('PTTL', lock)
if type(mode) == 'table' or not mode and ttl ~= -2 then return other_kind(lock) end
if redis.call('HEXISTS', lock, owner) == 0 then
  if tonumber(want) > 1 then return {-1, ttl == -2 and 0 or 1} end
  if mode == 'read' and forever == '1' and redis.call('HEXISTS', lock, reader) == 1 then return {-3} end
  if mode then return {0, ttl} end
end
if mode then live(lock, lease) end
redis.call('HSET', lock, 'mode', 'write', owner, want)
if not mode then end_after(lock, lease, 'mode', owner) end
return {1}
