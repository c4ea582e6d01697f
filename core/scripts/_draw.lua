-- Draws the next token, and `spare` more if the user may do that. Gives the token and how many follow it; or the error, and has drawn nothing.
local function draw(tokens, spare)
  local last = tonumber(spare) > 0 and redis.pcall('INCRBY', tokens, spare + 1)
  if type(last) == 'number' then return last - spare, spare + 0 end
  return redis.pcall('INCR', tokens), 0
end
