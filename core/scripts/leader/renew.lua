-- Prolongs the locks of many leaders, each with the place beside it, or only looks at them. Inputs and replies: see _renew.lua; an owner is named by
-- its field.

-- As `prefixed` of the Rust call.
local function place_of(lock)
  return 'redlatch_leader:' .. (string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}')
end

local function is_held(lock, owner)
  return look('HEXISTS', lock, owner) == 1
end

-- The place ends with its lock. If the server refuses that, because the slot moves or the user lacks a right, the leader goes on without it.
local function live_on(lock, owner)
  give_time(lock)
  redis.pcall('PEXPIRE', place_of(lock), redis.call('PTTL', lock))
end

return renew(is_held, live_on)
