-- KEYS: keys of this home, when they were revoked. ARGV: key id, at. The first revocation stands.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 'unknown' end
if redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 0 then return 'was_revoked' end
return 'revoked'
