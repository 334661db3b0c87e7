-- KEYS: queued jobs, running jobs. ARGV: what names of jobs begin with, now, lease until.
local id = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, 1)[1]
if not id then
  id = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if not id then return false end
  redis.call('ZREM', KEYS[1], id)
end
local job = ARGV[1] .. id
redis.call('HSET', job, 'state', 'running', 'leaseUntilMs', ARGV[3])
redis.call('HSETNX', job, 'startedAtMs', ARGV[2])
redis.call('HINCRBY', job, 'attempt', 1)
redis.call('ZADD', KEYS[2], ARGV[3], id)
return { id, redis.call('HGETALL', job) }
