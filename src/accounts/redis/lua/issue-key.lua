-- KEYS: payment, its key, that one's id by digest, when it was revoked. ARGV: key id, digest, record, revoked at (or empty).
-- The key lives in the slot of the payment that bought it: both change or neither.
local found = redis.call('HMGET', KEYS[1], 'state', 'keyId')
if not found[1] then return { 'unknown', '' } end
if found[1] == 'settling' then return { 'unsettled', '' } end
if found[2] then return { 'already_issued', found[2] } end
redis.call('HSET', KEYS[1], 'keyId', ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[2], ARGV[1])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[4], ARGV[1], ARGV[4]) end
return { 'issued', ARGV[1] }
