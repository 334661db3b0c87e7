-- KEYS: profile. ARGV: display name, plan, created at.
if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
redis.call('HSET', KEYS[1], 'displayName', ARGV[1], 'plan', ARGV[2], 'createdAtMs', ARGV[3])
return 'created'
