-- Has many permits last on, or only looks at them.
--
-- Inputs
--   lease      the ms that they last from now on; 0: as long as before
--   not_after  see _late.lua
--   ids        from the third argument on the permit's id for each key
-- Replies
--   {1, states}  a character for each key: 1 it is out, - it is not
-- Each key is read after it is written: only so does the server tell this connection of the next change.
-- Redisson: nothing renews its permits; to it this is updateLeaseTime
local leases = KEYS
local lease, not_after, ids = ARGV[1], ARGV[2], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local states, time, lives = {}, now(), tonumber(lease)
-- A key that somebody has made into something else is an error here, and must not end the others' renewal.
local function is_out(key, id)
  local score = look('ZSCORE', key, id)
  return type(score) == 'string' and tonumber(score) > time
end
for i, key in ipairs(leases) do
  local id = ids[i + 2]
  if lives > 0 and is_out(key, id) then redis.call('ZADD', key, time + lives, id) end
  states[i] = is_out(key, id) and '1' or '-'
end
return {1, table.concat(states)}
