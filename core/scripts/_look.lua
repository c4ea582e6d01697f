-- The first look at a key that may have become something else: the error of that is the answer. Any other, a right that is missing
-- above all, says nothing about the key, and ends the script.
local function look(...)
  local said = redis.pcall(...)
  if type(said) ~= 'table' or not said.err or string.find(said.err, 'WRONGTYPE', 1, true) then return said end
  return redis.call(...)
end
