-- KEYS: link. ARGV: organization, time.
if redis.call('HGET', KEYS[1], 'organizationId') ~= ARGV[1] then return 0 end
redis.call('HSETNX', KEYS[1], 'revokedAtMs', ARGV[2])
return 1
