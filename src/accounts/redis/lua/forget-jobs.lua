-- KEYS: ended jobs. ARGV: ended until, how many, what names of jobs and of the jobs of an organization begin with.
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do
  local job = ARGV[3] .. id
  redis.call('ZREM', ARGV[4] .. redis.call('HGET', job, 'organizationId'), id)
  redis.call('DEL', job)
  redis.call('ZREM', KEYS[1], id)
end
return #ids
