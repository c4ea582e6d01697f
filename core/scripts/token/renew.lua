-- Makes the keys of many holds live on, or only looks at them. Inputs and replies: see _renew.lua; an owner is named by its token.
local locks = KEYS
local not_after, holds = ARGV[1], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local function is_held(lock, token)
  return redis.pcall('GET', lock) == token
end

local function live_on(lock, token, lease)
  redis.call('PEXPIRE', lock, lease)
end

return renew(locks, holds, is_held, live_on)
