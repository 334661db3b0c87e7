-- KEYS: payment. ARGV: now, the transaction that the facilitator named (or empty).
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 'unknown' end
if state ~= 'settling' then return 'not_settling' end
redis.call('HSET', KEYS[1], 'leftOpenAtMs', ARGV[1])
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'saidTransaction', ARGV[2]) end
return 'left'
