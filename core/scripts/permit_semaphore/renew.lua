-- Has many permits last on, or only looks at them.
--
-- Inputs
--   not_after  see _late.lua
--   holds      from the second argument on, two for each key: the ms it lasts from now on (0: as long as before), and the permit's id
-- Replies
--   {1, states}  a character for each key: 1 it is out, - it is not
-- Redisson: nothing renews its permits; to it this is updateLeaseTime
local leases = KEYS
local not_after, holds = ARGV[1], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local states, time = {}, now()
for i, key in ipairs(leases) do
  local lease, id = tonumber(holds[2 * i]), holds[2 * i + 1]
  -- A key that somebody has made into something else is an error here, and must not end the others' renewal.
  local score = redis.pcall('ZSCORE', key, id)
  local is_out = type(score) == 'string' and tonumber(score) > time
  if is_out and lease > 0 then redis.call('ZADD', key, time + lease, id) end
  states[i] = is_out and '1' or '-'
end
return {1, table.concat(states)}
