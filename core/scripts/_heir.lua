-- Gives the heir of a release its field, beside the owner's, and gives the key the heir's lease; or changes nothing. The release has run HDEL for
-- the heir's field before, which removes nothing: it proves that the user may run HDEL, and lifts the refusal of a full server.
local function let_in(key, heir, ms)
  redis.call('HSET', key, heir, 1)
  if type(redis.pcall('PEXPIRE', key, ms)) == 'number' then return end
  redis.call('HDEL', key, heir)
  redis.call('PEXPIRE', key, ms)
end
