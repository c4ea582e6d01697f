-- Gives the heir of a release its field, beside the owner's, and the key the heir's lease; or changes nothing. The release takes the heir's field
-- away before, which is not there: that shows that the user may take it away again, and lifts the refusal of a full server.
local function let_in(key, heir, ms)
  redis.call('HSET', key, heir, 1)
  if type(redis.pcall('PEXPIRE', key, ms)) == 'number' then return end
  redis.call('HDEL', key, heir)
  redis.call('PEXPIRE', key, ms)
end
