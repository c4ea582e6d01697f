-- Prolongs the keys of many holds, or only looks at them. A reader's own holds live on with the lock, those of other readers do not.
-- Inputs and replies: see _renew.lua; an owner is named by its field.
-- Redisson: the renewal tasks for read and for write locks

local function is_held(lock, owner)
  return look('HEXISTS', lock, owner) == 1
end

local function live_on(lock, owner)
  live(lock, lease)
  for number = 1, is_writer(owner) and 0 or tonumber(redis.call('HGET', lock, owner)) do
    local key = hold_key(lock, owner, number)
    -- The key of an inner hold with a short lease may have ended. While the slot moves, the key may still be at the other server.
    if give_time(key) == 0 then redis.call('SET', key, 1, 'PX', lease) end
  end
  -- The lock ends with its longest hold. A reader does not know how long the same owner writes.
  if exact == '1' and (is_writer(owner) or redis.call('HGET', lock, 'mode') == 'read') then
    redis.call('PEXPIRE', lock, math.max(lease, longest_read(lock)))
  end
end

-- A renewal of Redisson gives the lock the time of its own watchdog, even if another reader's lease lasts longer. The server tells that reader of
-- the change, and the reader's look gives the lock the time of its own holds again.
local function look_after(lock, owner)
  local left = is_writer(owner) and 0 or longest_of(lock, owner, tonumber(redis.call('HGET', lock, owner)))
  local ttl = redis.call('PTTL', lock)
  if ttl >= 0 and ttl < left then redis.call('PEXPIRE', lock, left) end
end

return renew(is_held, live_on, look_after)
