-- Takes the lock, or one more hold of a lock that the owner has, and draws a fencing token for it. The client hands the lock on to its own waiters
-- without a call: their tokens are drawn here too.
--
-- Inputs
--   tokens     the key that counts the tokens; it outlives the lock
--   lease      ms that the key lives from now on; an own key keeps a longer time that it already has
--   owner      the field, <client uuid>:<number>
--   want       the count that the field gets: written, not added. A repeat draws another token: the field may be there for another reason
--   spare      the number of tokens to draw for the client's waiters
--   not_after  see _late.lua
-- Replies
--   {1, token, spare}  held; so many tokens follow that one, and are the client's
--   {0, ttl}     another owner holds the lock for ttl ms more, -1: without end
--   {-1, n}      the outer holds that `want` builds on are gone; nothing was changed; n is 1 if another owner holds the lock
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the acquire of RedissonFencedLock
local lock, tokens = KEYS[1], KEYS[2]
local lease, owner, want, spare, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local refusal = late(not_after)
if refusal then return refusal end

local count, ttl = look('HGET', lock, owner), redis.call('PTTL', lock)
if type(count) == 'table' then return other_kind(lock) end
if not count then
  if tonumber(want) > 1 then return {-1, ttl == -2 and 0 or 1} end
  if ttl ~= -2 then return redis.call('HLEN', lock) > 1 and other_kind(lock) or {0, ttl} end
end
-- The token first: what is refused after it has used up a number, and nothing else.
local token, more = draw(tokens, spare)
if type(token) ~= 'number' then return token end
if count and ttl < tonumber(lease) then redis.call('PEXPIRE', lock, lease) end
redis.call('HSET', lock, owner, want)
if not count then end_after(lock, lease, owner) end
return {1, token, more}
