-- The first look at a key that may have become another kind of object: then the answer is the error WRONGTYPE. Any other error, such as a missing
-- right, says nothing about the key and ends the script.
local function look(...)
  local said = redis.pcall(...)
  if type(said) ~= 'table' or not said.err or string.find(said.err, 'WRONGTYPE', 1, true) then return said end
  return redis.call(...)
end
