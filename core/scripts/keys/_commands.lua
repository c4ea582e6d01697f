-- Cuts one list into commands: before the words of each stands their number.
local function commands(list, from)
  local all = {}
  while from <= #list do
    local count = tonumber(list[from])
    table.insert(all, {unpack(list, from + 1, from + count)})
    from = from + 1 + count
  end
  return all
end
