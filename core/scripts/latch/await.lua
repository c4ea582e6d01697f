-- Tells whether the latch is open: its count is zero, or there is no key.
--
-- Replies
--   {1}          open
--   {0, -1}      closed
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the check of RedissonCountDownLatch's await
local latch = KEYS[1]

local there = look('GET', latch) or '0'
if not is_count(there) then return other_kind(latch) end
if tonumber(there) == 0 then return {1} end
return {0, -1}
