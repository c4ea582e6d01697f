-- A reader has a key of its own for each of its holds, numbered from 1 on: the longest of all decides how long the lock lives.
local function hold_key(lock, owner, number)
  local stem = string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}'
  return stem .. ':' .. owner .. ':rwlock_timeout:' .. number
end

local function is_writer(field)
  return string.sub(field, -6) == ':write'
end

-- How many ms a reader has left by that many holds; 0: none.
local function longest_of(lock, owner, count)
  local longest = 0
  for number = 1, count do longest = math.max(longest, redis.call('PTTL', hold_key(lock, owner, number))) end
  return longest
end

-- How many ms the reader who reads longest has left, this one not counted; 0: none has any.
local function longest_read(lock, but)
  local longest, fields = 0, redis.call('HGETALL', lock)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and fields[i] ~= but and not is_writer(fields[i]) then
      longest = math.max(longest, longest_of(lock, fields[i], tonumber(fields[i + 1]) or 0))
    end
  end
  return longest
end

-- Takes the keys of a reader's holds away once the reader's field is gone: without it they say nothing, and they end. So the call is done though
-- that is refused.
local function tidy_up(lock, owner, from, to)
  for number = from, to do redis.pcall('DEL', hold_key(lock, owner, number)) end
end

-- Takes the lock from all who have it, and tells those who wait.
local function clear(lock, publish, channel, message)
  local fields = redis.call('HGETALL', lock)
  redis.call(publish, channel, message)
  redis.call('DEL', lock)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and not is_writer(fields[i]) then tidy_up(lock, fields[i], 1, tonumber(fields[i + 1])) end
  end
end
