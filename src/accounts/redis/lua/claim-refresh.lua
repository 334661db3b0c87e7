-- KEYS: refreshes by the time at which they are looked at. ARGV: what names of queries begin with, now, until when it is claimed.
local entry = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[2], 'LIMIT', 0, 1)[1]
if not entry then return false end
redis.call('ZADD', KEYS[1], ARGV[3], entry)
local found = redis.call('HMGET', ARGV[1] .. entry, 'dueAtMs', 'failures')
return { entry, found[1], found[2] }
