local function milliseconds()
  local clock = redis.call('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000)
end

-- The time at which a key ends, in ms since 1970; -1: never, -2: there is no such key. Servers before 7.0 tell only how long the key has left.
local function ends_at(key)
  local at = redis.pcall('PEXPIRETIME', key)
  if type(at) == 'number' then return at end
  local left = redis.call('PTTL', key)
  return left < 0 and left or milliseconds() + left
end
