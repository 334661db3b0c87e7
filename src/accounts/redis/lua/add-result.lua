-- KEYS: result, its readers, results of its query, results by expiry, and of an organization: its results. ARGV: id, query key, created at,
-- created at negated, expires at, bytes, facts, and the organization.
local is_new = redis.call('EXISTS', KEYS[1]) == 0
if KEYS[5] then redis.call('SADD', KEYS[2], ARGV[8]) end
if not is_new then return 'replayed' end
redis.call('HSET', KEYS[1], 'queryKey', ARGV[2], 'createdAtMs', ARGV[3], 'expiresAtMs', ARGV[5], 'bytes', ARGV[6], 'facts', ARGV[7])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[5], ARGV[1])
if KEYS[5] then
  redis.call('HSET', KEYS[1], 'organizationId', ARGV[8])
  redis.call('ZADD', KEYS[5], ARGV[4], ARGV[1])
end
return 'added'
