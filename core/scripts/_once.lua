-- A call that adds or subtracts must run once only. A key of its own, `request`, keeps its answer for as long as a repeat may come.

-- The answer that an earlier copy of the request got; nil: the request is new.
local function answered(request)
  return tonumber(redis.call('GET', request) or nil)
end

-- Comes before the first write of a script that must work on a full server: a DEL lifts the refusal for the rest of the script.
local function make_way(request)
  redis.call('DEL', request)
end

local function remember(request, answer, keep)
  redis.call('SET', request, answer, 'PX', keep)
  return answer
end
