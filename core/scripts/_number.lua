-- Whether that is a number, and not a text, nothing, or the error of a pcall.
local function is_number(value)
  return type(value) == 'string' and string.find(value, '^%-?%d+$') ~= nil
end

-- What a latch may have; below zero it is a semaphore of which more was taken for good than there was.
local function is_count(value)
  return is_number(value) and string.sub(value, 1, 1) ~= '-'
end
