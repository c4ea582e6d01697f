-- A reader has a key of its own for each of its holds, numbered from 1 on: whoever reads longest decides how long the lock lives.
local function hold_key(lock, owner, number)
  local stem = string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}'
  return stem .. ':' .. owner .. ':rwlock_timeout:' .. number
end

local function is_writer(field)
  return string.sub(field, -6) == ':write'
end

-- How many ms the reader who reads longest has left; 0: none has any.
local function longest_read(lock)
  local longest, fields = 0, redis.call('HGETALL', lock)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and not is_writer(fields[i]) then
      for number = 1, tonumber(fields[i + 1]) do
        longest = math.max(longest, redis.call('PTTL', hold_key(lock, fields[i], number)))
      end
    end
  end
  return longest
end

-- Takes the lock from everybody.
local function clear(lock)
  local fields = redis.call('HGETALL', lock)
  redis.call('DEL', lock)
  for i = 1, #fields, 2 do
    for number = 1, (fields[i] == 'mode' or is_writer(fields[i])) and 0 or tonumber(fields[i + 1]) do
      redis.call('DEL', hold_key(lock, fields[i], number))
    end
  end
end

-- The key lives for so many ms at least.
local function live(lock, ms)
  if redis.call('PTTL', lock) < tonumber(ms) then redis.call('PEXPIRE', lock, ms) end
end
