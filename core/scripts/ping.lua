-- A sign of life that also shows that scripts may run.
-- Replies
--   {1}  always
return {1}
