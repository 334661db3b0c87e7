-- KEYS: keys of this home, their ids by digest, when they were revoked, its profile (only an organization has one).
-- ARGV: digest.
local id = redis.call('HGET', KEYS[2], ARGV[1])
if not id then return false end
return {
  redis.call('HGET', KEYS[1], id),
  redis.call('HGET', KEYS[3], id),
  redis.call('HMGET', KEYS[4], 'displayName', 'plan', 'createdAtMs'),
}
