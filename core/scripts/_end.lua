-- Gives a key that has just been made its end. Where that is refused, because the user lacks a right, the fields go again and the script ends:
-- no key of a lock stays without an end.
local function end_after(key, ms, ...)
  if type(redis.pcall('PEXPIRE', key, ms)) == 'number' then return end
  redis.call('HDEL', key, ...)
  redis.call('PEXPIRE', key, ms)
end
