-- KEYS: payment, key, ids of all keys by digest, ids of the trial keys. ARGV: key id, digest, then the key's fields and values.
local found = redis.call('HMGET', KEYS[1], 'state', 'keyId')
if not found[1] then return { 'unknown', false } end
if found[1] == 'settling' then return { 'unsettled', false } end
if found[2] then return { 'already_issued', found[2] } end
if redis.call('EXISTS', KEYS[2]) == 1 or redis.call('HEXISTS', KEYS[3], ARGV[2]) == 1 then return { 'taken', false } end
redis.call('HSET', KEYS[1], 'keyId', ARGV[1])
redis.call('HSET', KEYS[2], unpack(ARGV, 3))
redis.call('HSET', KEYS[3], ARGV[2], ARGV[1])
redis.call('ZADD', KEYS[4], 0, ARGV[1])
return { 'issued', ARGV[1] }
