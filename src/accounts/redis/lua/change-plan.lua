-- KEYS: organization. ARGV: plan.
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
redis.call('HSET', KEYS[1], 'plan', ARGV[1])
return 'changed'
