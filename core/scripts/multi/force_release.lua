-- Takes the values away from the holders that the caller names: a late copy evicts no other holder.
--
-- Inputs
--   holder     the owners to evict, with blanks between them; empty: only tell the owners
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
--   values     from the fifth argument on
-- Replies
--   {1}           evicted
--   {0, holders}  these owners hold some of them
--   {-1}          all are free
--   {-4, found}   the key is something else, see _kind.lua
-- Redisson: the forced unlock of RedissonFasterMultiLock
local group = KEYS[1]
local holder, publish, channel, not_after, values = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV

local refusal = late(not_after)
if refusal then return refusal end
if not is_group(group) then return other_kind(group) end

local time, holders, evicted = now(), {}, {}
for i = 5, #values do
  local other = holder_of(group, values[i], time)
  if other and string.find(' ' .. holder .. ' ', ' ' .. other .. ' ', 1, true) then
    evicted[#evicted + 1] = {values[i], other}
  elseif other then
    holders[#holders + 1] = other
  end
end
if #evicted > 0 then
  redis.call(publish, channel, '0')
  for _, held in ipairs(evicted) do clear(group, held[1], held[2]) end
  return {1}
end
return #holders > 0 and {0, table.concat(holders, ' ')} or {-1}
