-- The queue of a fair lock as Redisson keeps it: a list of owners, and for each owner the time (ms) at which the queue gives it up. Redisson's times
-- add up along the queue: an owner that takes the lock brings all behind it forward by its own share, its fairLockWaitTimeout. Our waiters add
-- nothing. A waiter of ours shows a sign of life every BEAT ms in `seen`; one that shows none for GRACE ms is dead, wherever it stands.
-- A beat that is lost, and sent again after a response time-out of 3 s, still comes in time. No waiter waits 5 s for a dead one.
local GRACE, BEAT = 4300, 800
-- In a queue of at most this many waiters the script looks at each.
local SHORT = 100

local function now_ms()
  local clock = redis.call('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000)
end

-- Takes a waiter out. If the server refuses the LREM, the waiter stays in the list, and the queue gives it up at its deadline: so its sign of life
-- goes first, and its deadline last.
local function remove(queue, deadlines, seen, owner)
  redis.call('ZREM', seen, owner)
  redis.call('LREM', queue, 0, owner)
  redis.call('ZREM', deadlines, owner)
end

-- A waiter that asks is alive, however late it asks: it keeps its place.
local function show(seen, owner, now)
  redis.call('ZADD', seen, 'XX', now, owner)
end

-- The time at which the queue gives its head up; nil: there is no head, or it has no deadline.
local function end_of(deadlines, seen, head, now)
  if not head then return nil end
  local sign = tonumber(redis.call('ZSCORE', seen, head) or nil)
  if not sign then return tonumber(redis.call('ZSCORE', deadlines, head) or nil) end
  if sign > now then
    -- The clock was set back since: the head's GRACE begins anew.
    redis.call('ZADD', seen, 'XX', now, head)
    sign = now
  end
  return sign + GRACE
end

-- Takes dead waiters from the head of the queue. Gives the new head, and whether it is another waiter than before.
local function living_head(queue, deadlines, seen, now)
  local head, fresh = redis.call('LINDEX', queue, 0), false
  local over = end_of(deadlines, seen, head, now)
  while over and over <= now do
    remove(queue, deadlines, seen, head)
    head, fresh = redis.call('LINDEX', queue, 0), true
    over = end_of(deadlines, seen, head, now)
  end
  return head, fresh
end

-- Puts the owner at the end of the queue, or shows its sign of life. Each waiter of Redisson before the owner will bring it forward by a share, so
-- the script counts them. Redisson leaves the sign of a waiter that it takes out, so an old sign says nothing. After Redisson has deleted a queue
-- the number of signs says nothing either: so a newcomer looks at each waiter. In a long queue the server has no time for that. There every waiter
-- without a new sign of life counts as one of Redisson, which at worst gives a dying waiter too much time. A waiter that stands already keeps
-- its first count.
local function stand(queue, deadlines, seen, owner, now, share)
  local foreign, score = 0, redis.call('ZSCORE', deadlines, owner)
  local others = redis.call('LLEN', queue) - (score and 1 or 0)
  local living = redis.call('ZCOUNT', seen, now - GRACE, '+inf') - (redis.call('ZSCORE', seen, owner) and 1 or 0)
  local silent = math.max(0, others - living)
  if others > SHORT then
    if not score then foreign = silent end
  elseif silent > 0 or not score then
    for _, other in ipairs(redis.call('LRANGE', queue, 0, -1)) do
      if other == owner then break end
      if not redis.call('ZSCORE', seen, other) then foreign = foreign + 1 end
    end
  end
  local until_then = now + GRACE + foreign * share
  local function step()
    redis.call('ZADD', deadlines, math.max(until_then, tonumber(score or 0)), owner)
    redis.call('ZADD', seen, now, owner)
    redis.call('PEXPIRE', seen, 10 * GRACE)
    if not score then redis.call('RPUSH', queue, owner) end
  end
  or_undo(step, function()
    if not score then
      redis.call('ZREM', deadlines, owner)
      redis.call('ZREM', seen, owner)
    end
  end)
end

-- Tells the head that the lock is free.
local function call(publish, channel, head)
  if head then redis.call(publish, channel .. ':' .. head, '0') end
end
