-- One command about a key of whatever kind, or about all keys.
--
-- Inputs
--   key        what `on` says nothing of
--   command    DBSIZE EXISTS DEL UNLINK TOUCH FLUSHDB FLUSHALL
--   on         `key`; `all`; `later`: all, and the server frees the memory afterwards
--   not_after  see _late.lua
-- Replies
--   {1, n}  what the command counts; 0 if it counts nothing
local key = KEYS[1]
local command, on, not_after = ARGV[1], ARGV[2], ARGV[3]

local refusal = late(not_after)
if refusal then return refusal end

local counted
if on == 'key' then
  counted = redis.call(command, key)
elseif on == 'later' then
  counted = redis.call(command, 'ASYNC')
else
  counted = redis.call(command)
end
return {1, type(counted) == 'number' and counted or 0}
