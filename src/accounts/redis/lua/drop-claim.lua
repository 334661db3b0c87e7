-- KEYS: payment, payments that are settling. ARGV: the payment's entry among those.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 'unknown' end
if state ~= 'settling' then return 'not_settling' end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 'dropped'
