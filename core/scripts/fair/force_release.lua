-- Takes the lock away from the holder that the caller names, for the head of the queue: a late copy evicts no other holder.
--
-- Inputs
--   queue      the list of those who wait
--   deadlines  when each of them is given up
--   seen       when each of ours showed its last sign of life
--   holder     the field to evict; empty: only tell the holder
--   publish    PUBLISH or SPUBLISH
--   channel    before `:` and the owner, where each waiter listens
--   not_after  see _late.lua
-- Replies
--   {1}          evicted
--   {0, holder}  this owner holds it
--   {-1}         no owner holds it
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the forced unlock of RedissonFairLock
local lock, queue, deadlines, seen = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local fields = look('HKEYS', lock)
if fields.err or fields[2] then return other_kind(lock) end
if fields[1] == holder then
  -- This removes nothing: a full server takes the command, and lifts its refusal for the rest of the script.
  redis.call('HDEL', lock, '')
  call(publish, channel, (living_head(queue, deadlines, seen, now_ms())))
  redis.call('DEL', lock)
  return {1}
end
if fields[1] then return {0, fields[1]} end
return {-1}
