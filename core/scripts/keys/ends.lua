-- Tells the time at which a key ends.
--
-- Replies
--   {1, at}  in ms since 1970; -1: never, -2: it is not there
-- Redisson: getExpireTime
local key = KEYS[1]

return {1, ends_at(key)}
