-- Gives a key that has just been made its end. Where that is refused, because the user lacks a right, the key goes again, by whichever command
-- the user may run, and the script ends: no key of a lock stays without an end.
local function end_after(key, ms, ...)
  if type(redis.pcall('PEXPIRE', key, ms)) == 'number' then return end
  if type(redis.pcall('HDEL', key, ...)) ~= 'number' then redis.pcall('DEL', key) end
  redis.call('PEXPIRE', key, ms)
end
