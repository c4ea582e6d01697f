-- Carries a step out. Where that is refused, because the user lacks a right, what came before it is undone, and the script ends.
local function or_undo(step, undo)
  local done, said = pcall(step)
  if done then return end
  undo()
  error(said, 0)
end
