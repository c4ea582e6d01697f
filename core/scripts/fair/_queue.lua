-- The queue of a fair lock as Redisson keeps it: a list of owners, and for each the time (ms) when it is given up. Redisson's times add
-- up along the queue, and whoever takes the lock brings all behind forward by its own share, its fairLockWaitTimeout. Ours add nothing: a waiter of
-- ours shows a sign of life every BEAT ms in `seen`, and who shows none for GRACE ms is dead, however many stand before the living one.
-- A beat that is lost, and sent again after a response time-out of 3 s, still comes in time; nobody waits 5 s for a dead one.
local GRACE, BEAT = 4300, 800
-- So many waiters are looked at one by one without a second thought.
local SHORT = 100

local function now_ms()
  local clock = redis.call('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000)
end

-- Takes a waiter out. One that is still in the queue where that is refused is given up at its deadline: so its sign of life goes first, and its
-- deadline last.
local function remove(queue, deadlines, seen, owner)
  redis.call('ZREM', seen, owner)
  redis.call('LREM', queue, 0, owner)
  redis.call('ZREM', deadlines, owner)
end

-- Who asks lives, however late it is: that is not to cost its place.
local function show(seen, owner, now)
  redis.call('ZADD', seen, 'XX', now, owner)
end

-- When the head is given up; nil: there is none, or it never is.
local function end_of(deadlines, seen, head, now)
  if not head then return nil end
  local sign = tonumber(redis.call('ZSCORE', seen, head) or nil)
  if not sign then return tonumber(redis.call('ZSCORE', deadlines, head) or nil) end
  if sign > now then
    -- The clock was set back since: from now on it is waited for.
    redis.call('ZADD', seen, 'XX', now, head)
    sign = now
  end
  return sign + GRACE
end

-- Takes the dead from the head of the queue. Gives the new head, and whether that is another one than before.
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

-- Stands at the end of the queue, or shows a sign of life there. Those of Redisson before it will each bring it forward by a share, so they are
-- counted. Redisson leaves the sign of a waiter that it takes out, so an old sign says nothing; and none says enough after Redisson has deleted
-- a queue: so a newcomer looks at each. In a long queue the server would have no time for that: there every waiter without a new sign of life
-- counts as one of Redisson, which at worst gives a waiter that dies too much time, and a waiter that stands already keeps its first count.
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
