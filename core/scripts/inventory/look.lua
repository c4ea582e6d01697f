-- Looks at one name, and changes nothing.
--
-- Replies
--   {1, …}  the lock of that name as _found.lua describes it, or nothing: there is none
local name = KEYS[1]

local MOST = 100

local reply = {1}
local found = redis.call('TYPE', name).ok
if found == 'hash' then
  add_hash(reply, name, redis.call('PTTL', name), MOST)
elseif redis.call('TYPE', leases_of(name)).ok == 'zset' then
  add_permits(reply, name, MOST)
elseif found == 'string' then
  add_text(reply, name)
end
return reply
