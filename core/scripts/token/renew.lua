-- Makes the keys of many holds live on, or only looks at them.
--
-- Inputs
--   not_after  see _late.lua
--   holds      from the second argument on, two for each key: the ms it lives from now on (0: as long as before), and the owner's token
-- Replies
--   {1, states}  a character for each key: 1 held, 0 somebody else holds it, - there is no such key
-- Each key is read after it is written: only so does the server tell this connection of the next change.
local locks = KEYS
local not_after, holds = ARGV[1], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local states = {}
for i, lock in ipairs(locks) do
  local lease, token = holds[2 * i], holds[2 * i + 1]
  -- A key that somebody has made into something else is an error here, and must not end the others' renewal.
  if tonumber(lease) > 0 and redis.pcall('GET', lock) == token then redis.call('PEXPIRE', lock, lease) end
  if redis.pcall('GET', lock) == token then
    states[i] = '1'
  else
    states[i] = redis.call('EXISTS', lock) == 1 and '0' or '-'
  end
end
return {1, table.concat(states)}
