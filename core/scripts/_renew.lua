-- The way of every renew.lua. Makes the keys of many holds live on, or only looks at them.
--
-- Inputs
--   client     the client's uuid: each owner is <client>:<number><role>
--   role       what is behind the number
--   lease      the ms that the keys live from now on at least; 0: as long as before
--   exact      1: and no longer, where nobody else needs them longer
--   not_after  see _late.lua
--   owners     from the sixth argument on the owner's number for each key
-- Replies
--   {1, states}  a character for each key: 1 held, 0 somebody else holds it, - there is no such key
-- Each key is read after it is written: only so does the server tell this connection of the next change.
local locks = KEYS
local client, role, lease, exact, not_after, owners = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV

-- One key that is an owner's alone.
local function give_time(key)
  return exact == '1' and redis.call('PEXPIRE', key, lease) or live(key, lease)
end

-- is_held(lock, owner) must bear a key that somebody has made into something else: that is not to end the others' renewal.
-- look_after(lock, owner) is what a look does for what is held; nil: nothing.
local function renew(is_held, live_on, look_after)
  local refusal = late(not_after)
  if refusal then return refusal end

  local states, stem, step = {}, client .. ':', tonumber(lease) > 0 and live_on or look_after
  for i, lock in ipairs(locks) do
    local owner = stem .. owners[i + 5] .. role
    if step and is_held(lock, owner) then step(lock, owner) end
    if is_held(lock, owner) then
      states[i] = '1'
    else
      states[i] = redis.call('EXISTS', lock) == 1 and '0' or '-'
    end
  end
  return {1, table.concat(states)}
end
