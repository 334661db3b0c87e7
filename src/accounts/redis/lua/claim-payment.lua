-- KEYS: payment. ARGV: its fields and values. Of any number at once exactly one finds nothing there.
local outcome = 'taken'
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV))
  outcome = 'claimed'
end
return { outcome, redis.call('HGETALL', KEYS[1]) }
