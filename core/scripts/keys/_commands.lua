-- Commands out of one list: each is its number of words, and they.
local function commands(list, from)
  local all = {}
  while from <= #list do
    local count = tonumber(list[from])
    table.insert(all, {unpack(list, from + 1, from + count)})
    from = from + 1 + count
  end
  return all
end
