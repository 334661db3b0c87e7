-- KEYS: key. ARGV: revoked at; the organization that it must belong to ('=' before it, '-' for any); what the names of the records of organizations begin
-- with, the entry in the record, the most entries that are kept. The earliest revocation stands.
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
local organization = redis.call('HGET', KEYS[1], 'organizationId')
if ARGV[2] ~= '-' and '=' .. (organization or '') ~= ARGV[2] then return 'unknown' end
local before = redis.call('HGET', KEYS[1], 'revokedAtMs')
if before and tonumber(before) <= tonumber(ARGV[1]) then return 'was_revoked' end
redis.call('HSET', KEYS[1], 'revokedAtMs', ARGV[1])
if organization then
  redis.call('RPUSH', ARGV[3] .. organization, ARGV[4])
  redis.call('LTRIM', ARGV[3] .. organization, -ARGV[5], -1)
end
return 'revoked'
