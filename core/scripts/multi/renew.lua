-- Prolongs the values of many holds, or only looks at them.
--
-- Inputs
--   lease      the ms that they are held from now on at least; 0: as long as before
--   exact      1: and no longer
--   not_after  see _late.lua
--   holds      from the fourth argument on one for each key: the owner and its values, with blanks between them
-- Replies
--   {1, states}  a character for each key: 1 the owner holds the values, 0 another owner holds one of them, - one of them is free
-- Each key is read after it is written: only so does the server tell this connection of the next change.
-- Redisson: FastMultilockTask
local groups = KEYS
local lease, exact, not_after, holds = ARGV[1], ARGV[2], ARGV[3], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local function state_of(group, words, time)
  local owner, state = words[1], '1'
  for i = 2, #words do
    local holder = holder_of(group, words[i], time)
    if holder and holder ~= owner then return '0' end
    if not holder then state = '-' end
  end
  return state
end

local states, time = {}, now()
for i, group in ipairs(groups) do
  local words = {}
  for word in string.gmatch(holds[i + 3], '%S+') do words[#words + 1] = word end
  if tonumber(lease) > 0 and state_of(group, words, time) == '1' then
    live(group, lease)
    for at = 2, #words do
      local field = words[at] .. ':' .. words[1] .. ':expire_time'
      local before = exact == '1' and 0 or tonumber(redis.call('HGET', group, field))
      redis.call('HSET', group, field, math.max(before, time + lease))
    end
  end
  states[i] = state_of(group, words, time)
end
return {1, table.concat(states)}
