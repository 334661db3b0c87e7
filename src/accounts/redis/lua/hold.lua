-- KEYS: profile, units, ledger, holds, open holds by when they are overdue, resolved ones likewise.
-- ARGV: hold id, units, operation, held at, overdue at; up to which time resolved ones are forgotten, and how many.
local units = read_units(KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then return answer('unknown', 0, units) end
if redis.call('HEXISTS', KEYS[4], ARGV[1]) == 1 then return answer('replayed', 0, units) end
local wanted = tonumber(ARGV[2])
if units.balance < wanted then return answer('insufficient', 0, units) end
units.balance = units.balance - wanted
units.held = units.held + wanted
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[6], '-inf', ARGV[6], 'LIMIT', 0, ARGV[7])) do
  redis.call('HDEL', KEYS[4], old)
  redis.call('ZREM', KEYS[6], old)
end
redis.call('HSET', KEYS[4], ARGV[1], 'open ' .. digits(wanted) .. ' ' .. ARGV[4] .. ' ' .. ARGV[5] .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[5], ARGV[5], ARGV[1])
write_units(KEYS[2], units)
write_row(KEYS[3], units,
  { at = ARGV[4], kind = 'hold', units = wanted, released = 0, subject = ARGV[1], note = ARGV[3] })
return answer('held', 0, units)
