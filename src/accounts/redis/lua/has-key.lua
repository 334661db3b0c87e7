-- KEYS: keys of this home, their ids by digest. ARGV: key id, digest. Whether either is taken here.
return redis.call('HEXISTS', KEYS[1], ARGV[1]) + redis.call('HEXISTS', KEYS[2], ARGV[2])
