-- KEYS: ids of all keys by digest. ARGV: digest; what the names of keys and of organizations begin with.
-- The other two names are known only in here, which works because all keys are on one node.
local id = redis.call('HGET', KEYS[1], ARGV[1])
if not id then return false end
local key = redis.call('HGETALL', ARGV[2] .. id)
local organization_id = redis.call('HGET', ARGV[2] .. id, 'organizationId')
local organization = {}
if organization_id then
  organization = redis.call('HMGET', ARGV[3] .. organization_id, 'displayName', 'plan', 'createdAtMs')
end
return { id, key, organization }
