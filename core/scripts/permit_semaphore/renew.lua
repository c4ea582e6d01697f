-- Prolongs many permits, or only looks at them.
--
-- Inputs
--   lease      the ms that they last from now on at least; 0: as long as before
--   exact      1: and no longer
--   not_after  see _late.lua
--   ids        from the fourth argument on the permit's id for each key
-- Replies
--   {1, states}  a character for each key: 1 it is out, - it is not
-- The script reads each key after its write: only then does the server tell this connection of the next change.
-- Redisson: nothing renews its permits; to it this is updateLeaseTime
local leases = KEYS
local lease, exact, not_after, ids = ARGV[1], ARGV[2], ARGV[3], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local states, time, lives = {}, now(), tonumber(lease)
-- A key that has become another kind of object is an error here, and must not end the renewal of the others.
local function end_of(key, id)
  local score = look('ZSCORE', key, id)
  score = type(score) == 'string' and tonumber(score) or 0
  return score > time and score or nil
end
for i, key in ipairs(leases) do
  local id = ids[i + 3]
  local before = lives > 0 and end_of(key, id)
  if before and (exact == '1' or before < time + lives) then
    -- This removes nothing: a full server takes the command, and lifts its refusal for the rest of the script.
    redis.call('ZREMRANGEBYSCORE', key, 1, 0)
    redis.call('ZADD', key, time + lives, id)
  end
  states[i] = end_of(key, id) and '1' or '-'
end
return {1, table.concat(states)}
