-- Gives a key that the script has just made its end. If the server refuses that because the user lacks a right, the script removes the key again,
-- by a command that the user may run, and ends: no key of a lock stays without an end.
local function end_after(key, ms, ...)
  if type(redis.pcall('PEXPIRE', key, ms)) == 'number' then return end
  if type(redis.pcall('HDEL', key, ...)) ~= 'number' then redis.pcall('DEL', key) end
  redis.call('PEXPIRE', key, ms)
end
