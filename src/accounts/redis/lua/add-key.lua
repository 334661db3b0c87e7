-- KEYS: key, ids of all keys by digest, ids of the organization's keys (or of the trial keys), organization and record of what was
-- done to its keys (none for a trial key). ARGV: key id, digest, the most keys of an organization, the entry in that record, the most
-- entries that are kept, then the key's fields and values.
if KEYS[4] and redis.call('EXISTS', KEYS[4]) == 0 then return 'unknown_organization' end
if KEYS[4] and redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[3]) then return 'too_many' end
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return 'exists' end
redis.call('HSET', KEYS[1], unpack(ARGV, 6))
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
redis.call('ZADD', KEYS[3], 0, ARGV[1])
if KEYS[5] then
  redis.call('RPUSH', KEYS[5], ARGV[4])
  redis.call('LTRIM', KEYS[5], -ARGV[5], -1)
end
return 'added'
