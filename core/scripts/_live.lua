-- Has the key live for so many ms at least: a late copy shortens no newer, longer lease. Gives 0 if there is no such key.
-- A full server takes this command, and lifts its refusal for the rest of the script. So the command runs in every case.
local function live(key, ms)
  if redis.REDIS_VERSION_NUM and redis.call('PEXPIRE', key, ms, 'GT') == 1 then return 1 end
  -- The key has no end, a later end, or is not there; or the server is older than 7.0.
  return redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), ms))
end
