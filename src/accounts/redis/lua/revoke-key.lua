-- KEYS: keys of this home, when they were revoked. ARGV: key id, at. The earliest revocation stands.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 'unknown' end
local before = redis.call('HGET', KEYS[2], ARGV[1])
if before and tonumber(before) <= tonumber(ARGV[2]) then return 'was_revoked' end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 'revoked'
