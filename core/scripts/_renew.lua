-- The way of every renew.lua. Makes the keys of many holds live on, or only looks at them.
--
-- Inputs
--   not_after  see _late.lua
--   holds      from the second argument on, two for each key: the ms it lives from now on (0: as long as before), and what names its owner
-- Replies
--   {1, states}  a character for each key: 1 held, 0 somebody else holds it, - there is no such key
-- Each key is read after it is written: only so does the server tell this connection of the next change.
--
-- is_held(lock, owner) must bear a key that somebody has made into something else: that is not to end the others' renewal.
local function renew(locks, holds, is_held, live_on)
  local states = {}
  for i, lock in ipairs(locks) do
    local lease, owner = holds[2 * i], holds[2 * i + 1]
    if tonumber(lease) > 0 and is_held(lock, owner) then live_on(lock, owner, lease) end
    if is_held(lock, owner) then
      states[i] = '1'
    else
      states[i] = redis.call('EXISTS', lock) == 1 and '0' or '-'
    end
  end
  return {1, table.concat(states)}
end
