-- Tells whether the term is another one than the caller has seen, for those that observe the leader.
--
-- Inputs
--   place  the key that says whose the term is, see _term.lua
--   seen   the term that the caller knows: its holder's field and its token, `<holder> <token>`; empty: it knows none
-- Replies
--   {1, token, seen, value}  another term, as in inspect.lua; `seen` is for the next question
--   {0, ttl}                 the same; the lock lives for ttl ms more, -1: without end, or it is free
--   {-4, found}              the key is something else, see _kind.lua
local lock, place = KEYS[1], KEYS[2]
local seen = ARGV[1]

local holder, token, value = term(lock, place)
if not holder then return token end
local now = holder .. string.format(' %.0f', token)
if now ~= seen then return {1, token, now, value} end
return {0, math.max(redis.call('PTTL', lock), -1)}
