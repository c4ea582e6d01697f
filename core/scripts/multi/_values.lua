-- A group is one hash. The field of a value names its owner. Two more fields of that owner have the end of its hold, in server ms, and the number
-- of its holds.
local function now()
  local clock = redis.call('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000)
end

-- Whether the key is a group, or free: a lock's hash has one field.
local function is_group(group)
  local fields = look('HLEN', group)
  return fields == 0 or type(fields) == 'number' and fields > 1 and redis.call('HEXISTS', group, 'mode') == 0
end

-- The owner of a value, and the end of its hold; nil: the value is free. It must not fail on a key that has become another kind of object.
local function holder_of(group, value, time)
  local holder = look('HGET', group, value)
  if type(holder) ~= 'string' then return nil end
  local ends = tonumber(redis.call('HGET', group, value .. ':' .. holder .. ':expire_time') or 0)
  if ends > time then return holder, ends end
end

local function hold(group, value, owner, ends, count)
  local stem = value .. ':' .. owner
  redis.call('HSET', group, value, owner, stem .. ':expire_time', ends, stem .. ':lock_count', count)
end

local function clear(group, value, owner)
  local stem = value .. ':' .. owner
  redis.call('HDEL', group, value, stem .. ':expire_time', stem .. ':lock_count')
end
