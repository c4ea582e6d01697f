-- A call that counts, and that nothing names: its own key, `request`, is there as long as a repeat may come, and has what was answered.

-- What the request was answered before; nil: it is new.
local function answered(request)
  return tonumber(redis.call('GET', request) or nil)
end

-- Before the first write of what must work on a full server: a DEL lifts the refusal for the rest of the script.
local function make_way(request)
  redis.call('DEL', request)
end

local function remember(request, answer, keep)
  redis.call('SET', request, answer, 'PX', keep)
  return answer
end
