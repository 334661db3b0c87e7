-- KEYS: organization, ledger, holds, resolved holds by overdue time, open holds of all organizations by overdue time.
-- ARGV: hold id, its entry among the open holds, kind, note, at.
local units = read_units(KEYS[1])
local state = redis.call('HGET', KEYS[3], ARGV[1])
if not state then return answer('unknown', 0, units) end
if state == 'released' then return answer('replayed', 0, units) end
if string.match(state, '^captured ') then return answer('captured', 0, units) end
local held, overdue_at = open_hold(state)
units.held = units.held - held
units.balance = units.balance + held
redis.call('HSET', KEYS[3], ARGV[1], 'released')
redis.call('ZADD', KEYS[4], overdue_at, ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[2])
write_units(KEYS[1], units)
write_row(KEYS[2], units,
  { at = ARGV[5], kind = ARGV[3], units = held, released = 0, subject = ARGV[1], note = ARGV[4] })
return answer('released', 0, units)
