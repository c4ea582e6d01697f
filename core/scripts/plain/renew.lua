-- Prolongs the keys of many holds, or only looks at them. Inputs and replies: see _renew.lua; an owner is named by its field.
-- Redisson: the renewal task for plain locks

local function is_held(lock, owner)
  return look('HEXISTS', lock, owner) == 1
end

local function live_on(lock, owner)
  give_time(lock)
end

return renew(is_held, live_on)
