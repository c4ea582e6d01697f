-- Describes what is locked, one key after the other, behind what a reply has already. Only keys with a lock's shape are described. A description
-- begins with the name and a letter:
--   h  a hash with owners: its mode if it is a read-write lock, else empty; ms that it has left, its fields, how many of them follow, processes that
--      listen (-1: unknown), the latest fencing token (0: none), 1 if it is a leader's, owners in the queue of a fair lock, how many of them follow;
--      then fields with their values, then the owners
--   z  permits that are out: ms that the last of them has left, their number, how many follow, processes that listen; then of each its id and the ms
--      that it has left
--   s  a text or a number: ms that it has left, listeners of token locks, of semaphores, of latches; then the text if it is a number or names an owner
-- The ms are -1 without an end. `most` is how many follow at most.
local SOME = 4
local LONGEST = 100
local UUID = '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x:'

local function beside(prefix, name)
  if string.find(name, '{', 1, true) then return prefix .. ':' .. name end
  return prefix .. ':{' .. name .. '}'
end

local function leases_of(name)
  if string.find(name, '{', 1, true) then return name .. ':timeout' end
  return '{' .. name .. '}:timeout'
end

-- The processes that listen to a channel in one of both ways; -1: the user may not ask.
local function listeners(channel)
  local said = redis.pcall('PUBSUB', 'NUMSUB', channel)
  if said.err then return -1 end
  if said[2] > 0 then return said[2] end
  said = redis.pcall('PUBSUB', 'SHARDNUMSUB', channel)
  return said.err and 0 or said[2]
end

-- Whether a hash has the shape of a lock; `in_part`: as far as these fields tell.
local function is_lock(fields, in_part)
  local has_owner = in_part
  for at = 1, #fields, 2 do
    local field, value = fields[at], fields[at + 1]
    local counts = string.find(field, UUID) or string.find(field, ':lock_count', -11, true)
    if counts and string.find(value, '^%d+$') then
      has_owner = true
    elseif field ~= 'mode' and not string.find(value, UUID) and not string.find(field, ':expire_time', -12, true) then
      return false
    end
  end
  return has_owner
end

local function append(reply, more)
  for _, each in ipairs(more) do table.insert(reply, each) end
end

local function add_hash(reply, name, left, most)
  -- Another program's hash may be long: some fields tell.
  local fields = redis.call('HRANDFIELD', name, SOME, 'WITHVALUES')
  if #fields == 2 * SOME and is_lock(fields, true) then fields = redis.call('HRANDFIELD', name, most, 'WITHVALUES') end
  if not is_lock(fields, false) then return end
  local channel, mode = 'redisson_lock__channel', redis.call('HGET', name, 'mode')
  if mode then channel = 'redisson_rwlock' end
  local queue = beside('redisson_lock_queue', name)
  local waiters = redis.pcall('LRANGE', queue, 0, most - 1)
  if waiters.err then waiters = {} end
  local waiting = #waiters > 0 and redis.call('LLEN', queue) or 0
  local token = redis.pcall('GET', beside('redisson_lock_token', name))
  local leads = redis.call('EXISTS', beside('redlatch_leader', name))
  append(reply, {name, 'h', mode or '', left, redis.call('HLEN', name), #fields / 2, listeners(beside(channel, name)),
    type(token) == 'string' and tonumber(token) or 0, leads, waiting, #waiters})
  append(reply, fields)
  append(reply, waiters)
end

local function add_permits(reply, name, most)
  local leases = leases_of(name)
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local out = redis.call('ZCOUNT', leases, now, '+inf')
  if out == 0 then return end
  local found = redis.call('ZRANGE', leases, now, '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
  local function left(score)
    local ends = tonumber(score)
    return ends >= 922337203685477 and -1 or ends - now
  end
  local last = redis.call('ZRANGE', leases, -1, -1, 'WITHSCORES')
  append(reply, {name, 'z', left(last[2]), out, #found / 2, listeners(beside('redisson_sc', name))})
  for at = 1, #found, 2 do append(reply, {found[at], left(found[at + 1])}) end
end

local function add_text(reply, name)
  -- Another text may be a secret of its program.
  local text = redis.call('STRLEN', name) <= LONGEST and redis.call('GET', name) or ''
  if not string.find(text, UUID) and not string.find(text, '^%-?%d+$') then text = '' end
  append(reply, {name, 's', redis.call('PTTL', name), listeners(beside('redlatch_token_lock', name)), listeners(beside('redisson_sc', name)),
    listeners('redisson_countdownlatch__channel__{' .. name .. '}'), text})
end
