-- The frame of every renew.lua: prolongs the keys of many holds, or only looks at them.
--
-- Inputs
--   client     the client's uuid: each owner is <client>:<number><role>
--   role       the part of the owner behind the number, `:write` or empty
--   lease      the ms that the keys live from now on at least; 0: as long as before
--   exact      1: and no longer, unless another owner needs a key longer
--   not_after  see _late.lua
--   owners     from the sixth argument on the owner's number for each key
-- Replies
--   {1, states}  a character for each key: 1 the owner holds it, 0 another owner holds it, - there is no such key
-- The script reads each key after its write: only then does the server tell this connection of the next change.
local locks = KEYS
local client, role, lease, exact, not_after, owners = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV

-- Prolongs a key that belongs to one owner alone.
local function give_time(key)
  return exact == '1' and redis.call('PEXPIRE', key, lease) or live(key, lease)
end

-- is_held(lock, owner) must not fail on a key that has become another kind of object: one such key must not end the renewal of the others.
-- look_after(lock, owner) is the step of a mere look at a held lock; nil: there is none.
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
