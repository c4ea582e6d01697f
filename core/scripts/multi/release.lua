-- Gives the owner's latest hold of its values back; the last one frees them all.
--
-- Inputs
--   owner      <client uuid>:<number>:<these values>
--   leave      the count that stays, 0 is the end: written, not subtracted, so that a repeat changes nothing
--   lease      ms that values with holds left are held at least, 0: as long as before
--   publish    PUBLISH or SPUBLISH
--   channel    where waiters listen
--   not_after  see _late.lua
--   values     from the seventh argument on
-- Replies
--   {1, n}        done; n clients heard that the values are free
--   {1, 0, left}  done; the holds that are left last for so many ms more; never less than before
--   {-1, n}  the owner does not hold all of them; those that it still held are free; n is 1 if another owner holds one of the values
-- The first write is one that a full server takes: it lifts the refusal for the rest of the script.
-- Redisson: the unlock of RedissonFasterMultiLock, without its latch key
local group = KEYS[1]
local owner, leave, lease, publish, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local not_after, values = ARGV[6], ARGV

local refusal = late(not_after)
if refusal then return refusal end

local time, mine, others = now(), {}, 0
for i = 7, #values do
  local holder, ends = holder_of(group, values[i], time)
  if holder == owner then
    mine[#mine + 1] = {values[i], ends}
  elseif holder then
    others = 1
  end
end
local is_whole = #mine == #values - 6
if is_whole and tonumber(leave) > 0 then
  local ttl = math.max(redis.call('PTTL', group), tonumber(lease))
  if ttl > 0 then redis.call('PEXPIRE', group, ttl) end
  local first
  for _, held in ipairs(mine) do
    local ends = tonumber(lease) > 0 and math.max(held[2], time + lease) or held[2]
    hold(group, held[1], owner, ends, leave)
    first = math.min(first or ends, ends)
  end
  return {1, 0, ttl <= 0 and first - time or math.min(ttl, first - time)}
end
local heard = #mine > 0 and redis.call(publish, channel, '0') or 0
for _, held in ipairs(mine) do clear(group, held[1], owner) end
return is_whole and {1, heard} or {-1, others}
