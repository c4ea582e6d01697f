-- Takes several values of a group, or one more hold of them: all or none.
--
-- Inputs
--   lease      ms that they are held from now on; own values keep a longer time that they already have
--   owner      <client uuid>:<number>:<these values>
--   want       the count that each gets: written, not added, so that a repeat changes nothing
--   stem       <client uuid>:<number>:, the beginning of the owners that belong to the same caller: it would wait for itself
--   not_after  see _late.lua
--   values     from the sixth argument on
-- Replies
--   {1}          held
--   {0, ms}      other owners hold some of them, the longest for ms more
--   {-1, n}      the outer holds that `want` builds on are gone; nothing was changed; n is 1 if another owner holds one of them
--   {-3}         the owner holds some of them together with others
--   {-4, found}  the key is something else, see _kind.lua
-- Redisson: the acquire of RedissonFasterMultiLock, whose owner has no values in it
local group = KEYS[1]
local lease, owner, want, stem, not_after, values = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV

local refusal = late(not_after)
if refusal then return refusal end
if not is_group(group) then return other_kind(group) end

local time, busy, mine = now(), 0, 0
for i = 6, #values do
  local holder, ends = holder_of(group, values[i], time)
  if holder == owner then
    mine = mine + 1
  elseif holder then
    if string.sub(holder, 1, #stem) == stem then return {-3} end
    busy = math.max(busy, ends - time)
  end
end
if tonumber(want) > 1 and mine < #values - 5 then return {-1, busy > 0 and 1 or 0} end
if busy > 0 then return {0, busy} end

-- The owner's own values live on first: that shortens nothing.
if mine > 0 then live(group, lease) end
local fresh, until_then, is_new = {}, {}, redis.call('PTTL', group) == -2
for i = 6, #values do
  local before, ends = holder_of(group, values[i], 0)
  if before == owner then
    until_then[i] = math.max(ends, time + lease)
  else
    if before then clear(group, values[i], before) end
    fresh[#fresh + 1] = values[i]
    until_then[i] = time + lease
  end
end
for i = 6, #values do hold(group, values[i], owner, until_then[i], want) end
-- The key ends some time after its last value.
or_undo(function() live(group, lease) end, function()
  local is_cleared = true
  for _, value in ipairs(fresh) do is_cleared = pcall(clear, group, value, owner) and is_cleared end
  if not is_cleared and is_new then redis.call('DEL', group) end
end)
return {1}
