-- Gives back the owner's latest hold; the last one frees the lock, or passes it on to another owner.
--
-- Inputs
--   owner       the field, <client uuid>:<number>
--   leave       the count that stays, 0 is the end: written, not subtracted, so that a repeat changes nothing
--   lease       ms that a lock with holds left lives at least, 0: as long as before
--   next_owner  the owner to pass on to; empty: none
--   next_lease  ms that the lock lives from now on with that owner
--   tokens      the key of the fencing tokens, of which the next owner gets one; empty: there are none
--   spare       the number of tokens to draw for the client's other waiters
--   publish     PUBLISH or SPUBLISH
--   channel     where waiters listen, empty: none listens; an argument and not a key, so that a moving slot does not stop the call
--   not_after   see _late.lua
-- Replies
--   {1, n}        done; n clients heard that the lock is free
--   {1, 0, left}  done; the holds that are left last for so many ms more, -1: without end; never less than before
--   {2}           passed on; then follow the token and the number of tokens behind it that are the client's, if there are any
--   {-1, n}  the owner's field is not there; nothing was changed; n is 1 if another owner holds the lock
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
-- Redisson: the unlock of RedissonLock, without its latch key; nothing passes on
local lock = KEYS[1]
local owner, leave, lease, next_owner, next_lease = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local tokens, spare, publish, channel, not_after = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]

local refusal = late(not_after)
if refusal then return refusal end

-- Draws the heir's token. Gives nil if that is impossible here: the slot moves, and the key of the tokens is at the other server. Then the heir
-- acquires for itself. A held fenced lock has that key, so the script never makes it anew.
local function draw_here(tokens)
  if redis.pcall('EXISTS', tokens) ~= 1 then return nil end
  local token, more = draw(tokens, spare)
  if type(token) == 'number' then return token, more end
end

-- The answer to a repeat: the token drawn last is the heir's. If the script cannot read it, a later repeat answers.
local function given(tokens)
  local token = tonumber(redis.pcall('GET', tokens) or nil)
  return token and {2, token} or redis.error_reply('TRYAGAIN the key of the tokens is on its way to another server')
end

-- The key may have become another kind of object, which is an error here: then the owner has lost the lock.
if look('HEXISTS', lock, owner) ~= 1 then
  if next_owner ~= '' and look('HEXISTS', lock, next_owner) == 1 then
    -- The heir counts its lease from the sending of this copy, not of the one before.
    redis.call('PEXPIRE', lock, next_lease)
    return tokens == '' and {2} or given(tokens)
  end
  return {-1, redis.call('EXISTS', lock)}
end
if tonumber(leave) > 0 then
  local ttl = redis.call('PTTL', lock)
  local left = math.max(ttl, tonumber(lease))
  if left > 0 then redis.call('PEXPIRE', lock, left) end
  redis.call('HSET', lock, owner, leave)
  return {1, 0, left > 0 and left or ttl}
end
local function tell() return channel == '' and 0 or redis.call(publish, channel, '0') end
if next_owner ~= '' then
  local time = redis.call('PTTL', lock)
  -- This removes nothing; see _heir.lua for why it comes first.
  redis.call('HDEL', lock, next_owner)
  -- The token comes before the heir: a repeat that finds the heir answers the token drawn last.
  local token, more
  if tokens ~= '' then token, more = draw_here(tokens) end
  if token or tokens == '' then
    -- Waiters of other clients sleep as long as the lock had to live: this message has them look again.
    if time < 0 or tonumber(next_lease) < time then tell() end
    -- In this order the key is there all the time: in a slot that moves, the server refuses writes to a key that is gone.
    let_in(lock, next_owner, next_lease)
    redis.call('HDEL', lock, owner)
    return {2, token, more}
  end
end
local heard = tell()
redis.call('HDEL', lock, owner)
return {1, heard}
