-- KEYS: organization, ids of all organizations. ARGV: id, display name, plan, created at.
if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
redis.call('HSET', KEYS[1], 'displayName', ARGV[2], 'plan', ARGV[3], 'createdAtMs', ARGV[4])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 'created'
