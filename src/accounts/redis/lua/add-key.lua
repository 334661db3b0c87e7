-- KEYS: key, ids of all keys by digest, ids of the organization's keys (or of the trial keys), organization (none for a trial key).
-- ARGV: key id, digest, then the key's fields and values.
if KEYS[4] and redis.call('EXISTS', KEYS[4]) == 0 then return 'unknown_organization' end
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return 'exists' end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
redis.call('ZADD', KEYS[3], 0, ARGV[1])
return 'added'
