-- Refuses a copy of a call that arrives too late: it could undo a later call of its owner. Refuses as well a copy that seems to come long before
-- it was sent. Then the server's clock was set back, and the script cannot recognise late copies until the client has learnt the new time.
-- not_after: server time in ms, never more than 20 s after the sending. Gives nil, or the reply {-2, server time in ms}.
local function late(not_after)
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local left = not_after - now
  if left < 0 or left > 30000 then return {-2, now} end
end
