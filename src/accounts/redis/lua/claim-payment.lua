-- KEYS: payment, payments that are settling by the end of their lease. ARGV: its entry among those, the end of its lease, then the
-- payment's fields and values. Of any number at once exactly one finds nothing there.
local outcome = 'taken'
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 3))
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
  outcome = 'claimed'
end
return { outcome, redis.call('HGETALL', KEYS[1]) }
