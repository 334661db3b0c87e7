-- KEYS: organization, ledger, holds, resolved holds by overdue time, open holds of all organizations by overdue time.
-- ARGV: hold id, its entry among the open holds, units, operation, held at, overdue at; the overdue time up to which resolved
-- holds are forgotten, and how many of them.
local units = read_units(KEYS[1])
if redis.call('EXISTS', KEYS[1]) == 0 then return answer('unknown', 0, units) end
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return answer('replayed', 0, units) end
local wanted = tonumber(ARGV[3])
if units.balance < wanted then return answer('insufficient', 0, units) end
units.balance = units.balance - wanted
units.held = units.held + wanted
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[7], 'LIMIT', 0, ARGV[8])) do
  redis.call('HDEL', KEYS[3], old)
  redis.call('ZREM', KEYS[4], old)
end
redis.call('HSET', KEYS[3], ARGV[1], 'open ' .. digits(wanted) .. ' ' .. ARGV[5] .. ' ' .. ARGV[6] .. ' ' .. ARGV[4])
redis.call('ZADD', KEYS[5], ARGV[6], ARGV[2])
write_units(KEYS[1], units)
write_row(KEYS[2], units,
  { at = ARGV[5], kind = 'hold', units = wanted, released = 0, subject = ARGV[1], note = ARGV[4] })
return answer('held', 0, units)
