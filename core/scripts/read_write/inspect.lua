-- Looks at the lock and changes nothing.
--
-- Inputs
--   owner      the field whose holds are counted
--   writes     1: looks at the write lock; 0: at the read lock
-- Replies
--   {1, ttl, count}  remaining ms (-1: no end, -2: this lock of the two is free) and the owner's holds
--   {-4, found}      the key is something else, see _kind.lua
-- Redisson: isLocked and getHoldCount of RedissonReadLock and RedissonWriteLock
local lock = KEYS[1]
local owner, writes = ARGV[1], ARGV[2]

local mode, held = look('HGET', lock, 'mode'), false
if type(mode) == 'table' then return other_kind(lock) end
if writes == '1' then
  held = mode == 'write'
else
  held = mode == 'read' or (mode == 'write' and redis.call('HLEN', lock) > 2)
end
return {1, held and redis.call('PTTL', lock) or -2, tonumber(redis.call('HGET', lock, owner) or 0)}
