-- KEYS: organization, ledger, holds, resolved holds by overdue time, open holds of all organizations by overdue time.
-- ARGV: hold id, its entry among the open holds, units, at.
local units = read_units(KEYS[1])
local state = redis.call('HGET', KEYS[3], ARGV[1])
if not state then return answer('unknown', 0, units) end
if state == 'released' then return answer('released', 0, units) end
local before = string.match(state, '^captured (%d+)$')
if before then return answer('replayed', tonumber(before), units) end
local held, overdue_at, operation = open_hold(state)
local charged = tonumber(ARGV[3])
if charged > held then return answer('more_than_held', 0, units) end
units.held = units.held - held
units.spent = units.spent + charged
units.balance = units.balance + held - charged
redis.call('HSET', KEYS[3], ARGV[1], 'captured ' .. digits(charged))
redis.call('ZADD', KEYS[4], overdue_at, ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[2])
write_units(KEYS[1], units)
write_row(KEYS[2], units,
  { at = ARGV[4], kind = 'capture', units = charged, released = held - charged, subject = ARGV[1], note = operation })
return answer('captured', charged, units)
