-- A reader has a key of its own for each of its holds, numbered from 1 on: the longest of all decides how long the lock lives.
local function hold_key(lock, owner, number)
  local stem = string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}'
  return stem .. ':' .. owner .. ':rwlock_timeout:' .. number
end

local function is_writer(field)
  return string.sub(field, -6) == ':write'
end

-- The ms that the longest of a reader's holds has left; 0: none has any.
local function longest_of(lock, owner, count)
  local longest = 0
  for number = 1, count do longest = math.max(longest, redis.call('PTTL', hold_key(lock, owner, number))) end
  return longest
end

-- The ms that the longest hold of all readers but one has left; 0: none has any.
local function longest_read(lock, but)
  local longest, fields = 0, redis.call('HGETALL', lock)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and fields[i] ~= but and not is_writer(fields[i]) then
      longest = math.max(longest, longest_of(lock, fields[i], tonumber(fields[i + 1]) or 0))
    end
  end
  return longest
end

-- Removes the keys of a reader's holds once the reader's field is gone. Without the field they mean nothing, and they end by themselves. So the call
-- counts as done even if the server refuses the removal.
local function tidy_up(lock, owner, from, to)
  for number = from, to do redis.pcall('DEL', hold_key(lock, owner, number)) end
end

-- Takes the lock from all its holders, and tells the waiters.
local function clear(lock, publish, channel, message)
  local fields = redis.call('HGETALL', lock)
  redis.call(publish, channel, message)
  redis.call('DEL', lock)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and not is_writer(fields[i]) then tidy_up(lock, fields[i], 1, tonumber(fields[i + 1])) end
  end
end
