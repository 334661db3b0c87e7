-- KEYS: runs of the organization in order, runs of the key, the run, times up to which runs were forgotten. ARGV: the run's entry in
-- the two lists, began at, the field of its key among those times, the run, for how long it is kept, the most runs of an organization;
-- what the names of runs and of the lists of keys begin with.
local all, of_key = unpack(redis.call('HMGET', KEYS[4], 'all', ARGV[3]))
local began_at = tonumber(ARGV[2])
if (all and began_at <= tonumber(all)) or (of_key and began_at <= tonumber(of_key)) then return 'forgotten' end
redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
for i = 1, 2 do
  redis.call('ZADD', KEYS[i], 0, ARGV[1])
  redis.call('PEXPIRE', KEYS[i], ARGV[5])
end
-- The oldest, whose texts may have gone already.
if redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[6]) then
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  local run = redis.call('GET', ARGV[7] .. oldest)
  redis.call('ZREM', KEYS[1], oldest)
  if run then
    redis.call('ZREM', ARGV[8] .. string.match(run, '^[^\n]*'), oldest)
    redis.call('DEL', ARGV[7] .. oldest)
  end
end
return 'added'
