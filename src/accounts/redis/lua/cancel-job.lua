-- KEYS: job, queued jobs, ended jobs, unfinished jobs of the organization. ARGV: id, organization, outcome, at.
local found = redis.call('HMGET', KEYS[1], 'state', 'organizationId')
if not found[1] or found[2] ~= ARGV[2] then return 'unknown' end
if found[1] == 'queued' then
  redis.call('HSET', KEYS[1], 'state', 'cancelled', 'outcome', ARGV[3], 'endedAtMs', ARGV[4], 'cancelAtMs', ARGV[4])
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
  redis.call('SREM', KEYS[4], ARGV[1])
  return 'cancelled'
end
if found[1] ~= 'running' then return 'ended' end
redis.call('HSETNX', KEYS[1], 'cancelAtMs', ARGV[4])
return 'asked'
