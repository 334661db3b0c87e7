-- KEYS: table, sizes of the organization's tables by name. ARGV: name.
redis.call('HDEL', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[1])
