-- Carries a step out. If the server refuses it because the user lacks a right, `undo` takes back the writes before it, and the script ends.
local function or_undo(step, undo)
  local done, said = pcall(step)
  if done then return end
  undo()
  error(said, 0)
end
