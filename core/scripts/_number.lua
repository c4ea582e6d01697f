-- Whether the value is a number. It may also be a text, nil, or the error of a pcall.
local function is_number(value)
  return type(value) == 'string' and string.find(value, '^%-?%d+$') ~= nil
end

-- Whether the value is a count that a latch may have. A count below zero belongs to a semaphore: its owners took more permits than there were.
local function is_count(value)
  return is_number(value) and string.sub(value, 1, 1) ~= '-'
end
