-- KEYS: payment. ARGV: now, lease until, largest number of attempts.
local found = redis.call('HMGET', KEYS[1], 'state', 'leaseUntilMs', 'attempts')
local state = found[1]
if not state then return { 'unknown', '0' } end
if state == 'settling' then return { 'unsettled', '0' } end
if state == 'served' then return { 'used', '0' } end
if state == 'serving' and tonumber(found[2]) > tonumber(ARGV[1]) then return { 'busy', '0' } end
if tonumber(found[3]) >= tonumber(ARGV[3]) then return { 'used', '0' } end
local attempt = redis.call('HINCRBY', KEYS[1], 'attempts', 1)
redis.call('HSET', KEYS[1], 'state', 'serving', 'leaseUntilMs', ARGV[2], 'servingAtMs', ARGV[1])
return { 'serving', tostring(attempt) }
