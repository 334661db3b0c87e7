-- KEYS: result, its readers. ARGV: organization.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('SADD', KEYS[2], ARGV[1])
