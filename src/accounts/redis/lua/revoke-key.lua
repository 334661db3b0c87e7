-- KEYS: key. ARGV: revoked at. The earliest revocation stands.
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
local before = redis.call('HGET', KEYS[1], 'revokedAtMs')
if before and tonumber(before) <= tonumber(ARGV[1]) then return 'was_revoked' end
redis.call('HSET', KEYS[1], 'revokedAtMs', ARGV[1])
return 'revoked'
