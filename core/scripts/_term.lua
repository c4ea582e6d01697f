-- Who leads. A leader's lock has a second key beside it, the place, with `<owner> <token> <value>` of its term. The place counts only while the lock
-- has that owner's field: one that has outlasted its term tells nothing of the next one.
-- Gives the holder's field, the token and the value; '' for a free lock; token 0 and no value for a holder that is no leader of ours. Or the reply
-- to a key of another kind.
local function term(lock, place)
  local holders = look('HKEYS', lock)
  if holders.err or #holders > 1 then return nil, other_kind(lock) end
  local holder = holders[1]
  if not holder then return '', 0 end
  local said = look('GET', place)
  local owner, token, value = string.match(type(said) == 'string' and said or '', '^(%S+) (%d+) (.*)$')
  if owner ~= holder then return holder, 0 end
  return holder, tonumber(token), value
end
