-- The reply of a script whose key has another kind of object: -4, and a name of that object.
local function other_kind(key)
  local found = redis.call('TYPE', key).ok
  if found == 'string' then
    local value = redis.call('GET', key)
    return {-4, string.find(value, '^%-?%d+$') and 'the number ' .. value or 'a text'}
  end
  if found ~= 'hash' then return {-4, 'a ' .. found} end
  if redis.call('HEXISTS', key, 'mode') == 1 then return {-4, 'a read-write lock'} end
  return {-4, redis.call('HLEN', key) > 1 and 'a group of values' or 'a lock'}
end
