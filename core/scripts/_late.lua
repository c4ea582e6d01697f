-- Refuses a copy of a call that arrives too late, so that it cannot undo what its owner did since.
-- not_after: server time in ms. Gives nil, or the reply {-2, server time in ms}.
local function late(not_after)
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  if now > tonumber(not_after) then return {-2, now} end
end
