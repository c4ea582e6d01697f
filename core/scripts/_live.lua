-- The key lives for so many ms at least: a copy that comes late shortens no newer and longer lease. Gives 0 if there is no such key.
-- The command is one that a full server takes, and is run in every case: it lifts the refusal for the rest of the script.
local function live(key, ms)
  if redis.REDIS_VERSION_NUM and redis.call('PEXPIRE', key, ms, 'GT') == 1 then return 1 end
  -- It has no end, a later one, or is not there; or the server is older than 7.0.
  return redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), ms))
end
