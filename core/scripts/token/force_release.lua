-- Takes the lock away from the holder that the caller names: a late copy evicts no other holder.
--
-- Inputs
--   holder     the SHA-1 of the token to evict, which may be any bytes; empty: only tell the holder's
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters of this library listen
--   not_after  see _late.lua
-- Replies
--   {1}          evicted
--   {0, holder}  this owner holds it
--   {-1}         no owner holds it
--   {-4, found}  the key is something else, see _kind.lua
local lock = KEYS[1]
local holder, publish, channel, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local value = look('GET', lock)
if type(value) == 'table' then return other_kind(lock) end
if not value then return {-1} end
if redis.sha1hex(value) ~= holder then return {0, redis.sha1hex(value)} end
redis.call(publish, channel, '0')
redis.call('DEL', lock)
return {1}
