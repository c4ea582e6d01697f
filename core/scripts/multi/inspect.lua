-- Looks at the values and changes nothing.
--
-- Inputs
--   owner      the owner whose holds are counted
--   values     from the second argument on
-- Replies
--   {1, ms, count}  ms until the last of the values is free (-2: all are free), and how often the owner holds all of them
--   {-4, found}     the key is something else, see _kind.lua
-- Redisson: isLocked, isHeldByThread
local group = KEYS[1]
local owner, values = ARGV[1], ARGV

if not is_group(group) then return other_kind(group) end
local time, longest, count = now(), -2, nil
for i = 2, #values do
  local holder, ends = holder_of(group, values[i], time)
  if holder then longest = math.max(longest, ends - time) end
  local held = holder == owner and tonumber(redis.call('HGET', group, values[i] .. ':' .. owner .. ':lock_count')) or 0
  count = math.min(count or held, held)
end
return {1, longest, count}
