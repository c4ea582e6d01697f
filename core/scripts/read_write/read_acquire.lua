-- Takes the lock for reading, or one more such hold: unless another owner writes.
--
-- Inputs
--   lease      ms that this hold, and the lock with it, lives from now on
--   owner      the reader's field, <client uuid>:<number>
--   want       the count that the field gets: written, not added, so that a repeat changes nothing
--   not_after  see _late.lua
-- Replies
--   {1}          held
--   {0, ttl}     another owner writes; the key lives for ttl ms more, -1: without end
--   {-1, n}      the outer holds that `want` builds on are gone; nothing was changed; n is 1 if another owner holds the lock
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the acquire of RedissonReadLock
local lock = KEYS[1]
local lease, owner, want, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local mode, ttl = look('HGET', lock, 'mode'), redis.call('PTTL', lock)
if type(mode) == 'table' or not mode and ttl ~= -2 then return other_kind(lock) end
if tonumber(want) > 1 and redis.call('HEXISTS', lock, owner) == 0 then return {-1, ttl == -2 and 0 or 1} end
if mode == 'write' and redis.call('HEXISTS', lock, owner .. ':write') == 0 then return {0, ttl} end
-- The key of the hold comes first: it has an end, and means nothing without the field. The user may lack the right to it, or the key may be at
-- another server already while the slot moves.
redis.call('SET', hold_key(lock, owner, want), 1, 'PX', lease)
if mode then live(lock, lease) end
redis.call('HSET', lock, 'mode', mode or 'read', owner, want)
if not mode then end_after(lock, lease, 'mode', owner) end
return {1}
