-- KEYS: job, queued jobs, jobs and unfinished jobs of the organization, jobs of the key where there is one. ARGV: id, organization, request,
-- created at, created at negated, how many unfinished jobs the organization may have, the key where there is one.
if redis.call('EXISTS', KEYS[1]) == 1 then return 'replayed' end
if redis.call('SCARD', KEYS[4]) >= tonumber(ARGV[6]) then return 'too_many' end
redis.call('HSET', KEYS[1], 'organizationId', ARGV[2], 'request', ARGV[3], 'createdAtMs', ARGV[4], 'state', 'queued', 'attempt', 0)
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
redis.call('SADD', KEYS[4], ARGV[1])
if KEYS[5] then
  redis.call('HSET', KEYS[1], 'keyId', ARGV[7])
  redis.call('ZADD', KEYS[5], ARGV[5], ARGV[1])
end
return 'added'
