-- KEYS: link, ids of the links of its organization to its result. ARGV: id, how many there may be, milliseconds until it is forgotten, result,
-- organization, facts, created at, expires at.
if redis.call('EXISTS', KEYS[1]) == 1 then return 'replayed' end
if redis.call('SCARD', KEYS[2]) >= tonumber(ARGV[2]) then return 'too_many' end
redis.call('HSET', KEYS[1], 'resultId', ARGV[4], 'organizationId', ARGV[5], 'facts', ARGV[6], 'createdAtMs', ARGV[7], 'expiresAtMs', ARGV[8])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 'added'
