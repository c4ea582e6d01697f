-- Has many permits last on, or only looks at them.
--
-- Inputs
--   lease      the ms that they last from now on; 0: as long as before
--   not_after  see _late.lua
--   ids        from the third argument on the permit's id for each key
-- Replies
--   {1, states}  a character for each key: 1 it is out, - it is not
-- Redisson: nothing renews its permits; to it this is updateLeaseTime
local leases = KEYS
local lease, not_after, ids = ARGV[1], ARGV[2], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local states, time, lives = {}, now(), tonumber(lease)
for i, key in ipairs(leases) do
  local id = ids[i + 2]
  -- A key that somebody has made into something else is an error here, and must not end the others' renewal.
  local score = redis.pcall('ZSCORE', key, id)
  local is_out = type(score) == 'string' and tonumber(score) > time
  if is_out and lives > 0 then redis.call('ZADD', key, time + lives, id) end
  states[i] = is_out and '1' or '-'
end
return {1, table.concat(states)}
