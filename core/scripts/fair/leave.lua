-- Leaves the queue; if it was the owner's turn, it is the next one's now.
--
-- Inputs
--   queue      the list of those who wait
--   deadlines  when each of them is given up
--   seen       when each of ours showed its last sign of life
--   owner      who leaves, <client uuid>:<number>
--   publish    PUBLISH or SPUBLISH
--   channel    before `:` and the owner, where each waiter listens
--   not_after  see _late.lua
-- Replies
--   {1}  it is not there any more
-- Redisson: what RedissonFairLock does when a wait runs out
local lock, queue, deadlines, seen = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

-- By commands that an acquire runs as well: a waiter that came in can go.
local first, is_free = redis.call('LINDEX', queue, 0), redis.call('PTTL', lock) == -2
remove(queue, deadlines, seen, owner)
local head = living_head(queue, deadlines, seen, now_ms())
if is_free and head ~= first then call(publish, channel, head) end
return {1}
