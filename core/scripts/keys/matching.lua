-- Looks at some hundred keys of any kind, and deletes those that match a pattern.
--
-- Inputs
--   cursor     where to go on, `0` at first
--   pattern    that of SCAN
--   command    DEL or UNLINK
--   not_after  see _late.lua
-- Replies
--   {1, n, next}  how many were deleted, and where to go on; `0`: that was the last
local cursor, pattern, command, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local refusal = late(not_after)
if refusal then return refusal end

local found = redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', 500)
-- One command for each key: in a cluster the keys are in many slots.
local deleted = 0
for _, key in ipairs(found[2]) do deleted = deleted + redis.call(command, key) end
return {1, deleted, found[1]}
