-- Tells the channels to which clients of this server listen, and changes nothing.
--
-- Inputs
--   pattern  that of the channels
-- Replies
--   {1, …}   the channels; none if the user may not ask for them
local pattern = ARGV[1]

local reply = {1}
for _, word in ipairs({'CHANNELS', 'SHARDCHANNELS'}) do
  local channels = redis.pcall('PUBSUB', word, pattern)
  if not channels.err then
    for _, channel in ipairs(channels) do table.insert(reply, channel) end
  end
end
return reply
