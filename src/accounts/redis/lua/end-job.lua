-- KEYS: job, running jobs, ended jobs. ARGV: id, attempt, state, outcome, at, what names of unfinished jobs begin with.
local found = redis.call('HMGET', KEYS[1], 'state', 'attempt', 'organizationId')
if found[1] ~= 'running' or found[2] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[3], 'outcome', ARGV[4], 'endedAtMs', ARGV[5])
redis.call('HDEL', KEYS[1], 'leaseUntilMs')
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
redis.call('SREM', ARGV[6] .. found[3], ARGV[1])
return 1
