-- KEYS: ended jobs. ARGV: ended until, how many, what names of jobs, of the jobs of an organization and of the jobs of a key begin with.
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do
  local job = ARGV[3] .. id
  local whose = redis.call('HMGET', job, 'organizationId', 'keyId')
  redis.call('ZREM', ARGV[4] .. whose[1], id)
  if whose[2] then redis.call('ZREM', ARGV[5] .. whose[2], id) end
  redis.call('DEL', job)
  redis.call('ZREM', KEYS[1], id)
end
return #ids
