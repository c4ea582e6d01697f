-- Permits that are out, each with its end: a sorted set of ids, the score is the ms of the server's clock at which the permit ends.

-- The score of a permit without an end.
local NEVER = 922337203685477

local function now()
  local clock = redis.call('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000)
end

-- The end of a permit that lasts so many ms from now on, 0: without end.
local function ending(lease)
  return tonumber(lease) == 0 and NEVER or now() + lease
end

-- Waiters are told what is available; with nothing there, or less, they are told nothing.
local function tell(available, publish, channel)
  if available > 0 then redis.call(publish, channel, available) end
end

-- Gives permits back whose time is over. It writes nothing if there are none: a full server must refuse calls that take a permit, and only those.
local function reap(permits, leases, publish, channel)
  local time = now()
  local ended = redis.call('ZCOUNT', leases, 0, time)
  if ended == 0 then return end
  -- This removes nothing: a full server takes the command and lifts its refusal, and it proves that the user has the right.
  redis.call('ZREMRANGEBYSCORE', leases, 1, 0)
  local available = redis.call('INCRBY', permits, ended)
  redis.call('ZREMRANGEBYSCORE', leases, 0, time)
  tell(available, publish, channel)
end
