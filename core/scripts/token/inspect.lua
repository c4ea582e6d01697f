-- Looks at the lock and changes nothing.
--
-- Inputs
--   token      the owner whose hold is counted
-- Replies
--   {1, ttl, count}  remaining ms (-1: no end, -2: the lock is free) and the owner's holds: 1 or 0
--   {-4, found}      the key is something else, see _kind.lua
local lock = KEYS[1]
local token = ARGV[1]

local value = look('GET', lock)
if type(value) == 'table' then return other_kind(lock) end
return {1, redis.call('PTTL', lock), value == token and 1 or 0}
