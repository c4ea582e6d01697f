-- Looks at some keys of a server for locks and for permits that are out, and changes nothing. A lock without an end is left out: other programs'
-- hashes have none.
--
-- Inputs
--   names    the pattern of names
--   cursor   where to go on, `0` at first
--   leases   the pattern of keys with permits that are out
--   count    the work that is done, in keys; it is exceeded by that of one step
-- Replies
--   {1, us, next, …}  the µs that it took, 0: unknown; where to go on, `0`: that was the last; then the locks as _found.lua describes them
local names, cursor, leases, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local STEP = 10
local MOST = 20
-- A lock costs as much as so many keys, and ten of its texts as much as one.
local LOCK = 15

-- The time from TIME stands still in the scripts of newer servers. These have the time of the processor.
local processor = rawget(_G, 'os')
local function clock()
  if processor then return processor.clock() * 1000000 end
  local now = redis.call('TIME')
  return now[1] * 1000000 + now[2]
end

local began = clock()
local reply, work = {1, 0, cursor}, 0
repeat
  -- Both look at the same keys: no key comes or goes in between.
  local hashes = redis.call('SCAN', cursor, 'MATCH', names, 'COUNT', STEP, 'TYPE', 'hash')
  local sets = redis.call('SCAN', cursor, 'MATCH', leases, 'COUNT', STEP, 'TYPE', 'zset')
  -- The table of keys has got another size in between: the same once more, by the next call.
  if hashes[1] ~= sets[1] then break end
  cursor = hashes[1]
  local before = #reply
  for _, name in ipairs(hashes[2]) do
    local left = redis.call('PTTL', name)
    if left > 0 then add_hash(reply, name, left, MOST) end
  end
  for _, key in ipairs(sets[2]) do
    local name = string.match(key, '^{([^{}]*)}:timeout$') or string.match(key, '^(.*{.*):timeout$')
    -- The permits that are out stand beside a number.
    if name and redis.call('TYPE', name).ok == 'string' then add_permits(reply, name, MOST) end
  end
  work = work + STEP + LOCK * (#hashes[2] + #sets[2]) + (#reply - before) / 10
until cursor == '0' or work >= tonumber(count)
reply[2] = math.floor(clock() - began)
reply[3] = cursor
return reply
