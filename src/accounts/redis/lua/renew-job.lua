-- KEYS: job, running jobs. ARGV: id, attempt, lease until, and in turn names and values of the changed fields.
local found = redis.call('HMGET', KEYS[1], 'state', 'attempt')
if found[1] ~= 'running' or found[2] ~= ARGV[2] then return false end
redis.call('HSET', KEYS[1], 'leaseUntilMs', ARGV[3])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return redis.call('HGETALL', KEYS[1])
