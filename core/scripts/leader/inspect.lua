-- Looks who leads, and changes nothing.
--
-- Inputs
--   place  the key that says whose the term is, see _term.lua
--   owner  the field whose holds are counted
-- Replies
--   {1, ttl, count, token, holder, value}  remaining ms (-1: no end, -2: the lock is free), the owner's holds, the leader's token, its field and
--                                          value; without a leader of ours token is 0 and the value is not there, and of a free lock holder is ''
--   {-4, found}                            the key is something else, see _kind.lua
local lock, place = KEYS[1], KEYS[2]
local owner = ARGV[1]

local holder, token, value = term(lock, place)
if not holder then return token end
local count = holder == owner and tonumber(redis.call('HGET', lock, owner)) or 0
return {1, redis.call('PTTL', lock), count, token, holder, value}
