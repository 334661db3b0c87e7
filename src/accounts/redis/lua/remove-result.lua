-- KEYS: result, its readers, results by expiry. ARGV: id, what names of the results of a query and of an organization begin with.
local found = redis.call('HMGET', KEYS[1], 'queryKey', 'organizationId')
if found[1] then redis.call('ZREM', ARGV[2] .. found[1], ARGV[1]) end
if found[2] then redis.call('ZREM', ARGV[3] .. found[2], ARGV[1]) end
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[2])
return 1
