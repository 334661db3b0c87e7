-- KEYS: organization, organizations by handle, handles by skeleton. ARGV: organization id, handle, skeleton.
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown_organization' end
local own = redis.call('HGET', KEYS[1], 'handle')
if own then return own == ARGV[2] and 'replayed' or 'has_other' end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 or redis.call('HEXISTS', KEYS[3], ARGV[3]) == 1 then return 'taken' end
redis.call('HSET', KEYS[1], 'handle', ARGV[2], 'handleSkeleton', ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[3], ARGV[2])
return 'claimed'
