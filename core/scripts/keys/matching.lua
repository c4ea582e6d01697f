-- Deletes those of some hundred keys, of whatever kind, that match a pattern.
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
local deleted = #found[2] > 0 and redis.call(command, unpack(found[2])) or 0
return {1, deleted, found[1]}
