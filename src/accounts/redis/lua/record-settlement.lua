-- KEYS: payment. ARGV: transaction. Answers the outcome and the token of the claim, by which it is taken off the list.
local found = redis.call('HMGET', KEYS[1], 'state', 'transaction', 'claim')
if not found[1] then return { 'unknown', '' } end
if found[1] == 'settling' then
  redis.call('HSET', KEYS[1], 'state', 'settled', 'transaction', ARGV[1])
  return { 'settled', found[3] }
end
if found[2] == ARGV[1] then return { 'replayed', found[3] } end
return { 'conflict', found[3] }
