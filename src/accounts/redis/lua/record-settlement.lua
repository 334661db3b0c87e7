-- KEYS: payment, payments that are settling. ARGV: transaction, the payment's entry among those.
local found = redis.call('HMGET', KEYS[1], 'state', 'transaction')
if not found[1] then return 'unknown' end
if found[1] ~= 'settling' then return found[2] == ARGV[1] and 'replayed' or 'conflict' end
redis.call('HSET', KEYS[1], 'state', 'settled', 'transaction', ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
return 'settled'
