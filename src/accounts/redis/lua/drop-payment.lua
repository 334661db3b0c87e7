-- KEYS: payment. Answers the outcome and the token of the claim, by which it is taken off the list.
local found = redis.call('HMGET', KEYS[1], 'state', 'claim')
if not found[1] then return { 'unknown', '' } end
if found[1] ~= 'settling' then return { 'not_settling', '' } end
redis.call('DEL', KEYS[1])
return { 'dropped', found[2] }
