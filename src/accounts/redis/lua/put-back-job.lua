-- KEYS: job, running jobs, queued jobs. ARGV: id, attempt.
local found = redis.call('HMGET', KEYS[1], 'state', 'attempt', 'createdAtMs')
if found[1] ~= 'running' or found[2] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'queued')
redis.call('HDEL', KEYS[1], 'leaseUntilMs', 'progress')
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], found[3], ARGV[1])
return 1
