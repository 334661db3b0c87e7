-- KEYS: refreshes by the time at which they are looked at, query, runs of the query. ARGV: entry of the query, when the run was due, when
-- it is looked at next, '' for no more; of a run that ended also its record, failures in a row, how many runs are kept.
if redis.call('HGET', KEYS[2], 'dueAtMs') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], 'refreshSeconds', 'dueAtMs', 'failures')
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  if ARGV[4] then redis.call('HSET', KEYS[2], 'dueAtMs', ARGV[3], 'failures', ARGV[5]) end
end
if ARGV[4] then
  redis.call('RPUSH', KEYS[3], ARGV[4])
  redis.call('LTRIM', KEYS[3], -tonumber(ARGV[6]), -1)
end
return 1
