-- Gives an object without owners an end, or takes its end away. The first key decides, the others follow.
--
-- Inputs
--   keys       the keys that are to end; the last one is the request, see _once.lua
--   ttl        ms; 0: without end
--   when       0: always; only 1: without an end, 2: with one, 3: with an earlier one, 4: with a later one or none
--   since      0: ms from now on; 1: since 1970
--   keep       ms that the request is remembered
--   not_after  see _late.lua
-- Replies
--   {1, n}  n is 1 if the end was changed; 0 if there is no such object, or `when` forbids the change
-- Redisson: expire, expireIfSet and the like, clearExpire
local keys = KEYS
local ttl, when, since, keep, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local refusal = late(not_after)
if refusal then return refusal end

local function is_wanted(key)
  if when == '0' then return true end
  local ending, at = ends_at(key), since == '1' and tonumber(ttl) or milliseconds() + ttl
  if when == '1' then return ending == -1 end
  if when == '2' then return ending >= 0 end
  if when == '3' then return ending >= 0 and at > ending end
  return ending == -1 or at < ending
end

local function set(key)
  if ttl == '0' then return redis.call('PERSIST', key) end
  return redis.call(since == '1' and 'PEXPIREAT' or 'PEXPIRE', key, ttl)
end

local request = keys[#keys]
local before = answered(request)
if before then return {1, before} end
if not is_wanted(keys[1]) then return {1, 0} end
make_way(request)
remember(request, 1, keep)
local changed
or_undo(function()
  for i = 2, #keys - 1 do set(keys[i]) end
  changed = set(keys[1])
end, function() make_way(request) end)
if changed == 0 then make_way(request) end
return {1, changed}
