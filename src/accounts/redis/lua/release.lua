-- KEYS: the keys of units-common. ARGV: hold id, its entry among the open holds, kind, note, at; the overdue time up to which resolved
-- holds are forgotten, and how many of them.
local units = read_units()
local state = redis.call('HGET', HOLDS, ARGV[1])
if not state then return answer('unknown', 0, units) end
if state == 'released' then return answer('replayed', 0, units) end
if string.match(state, '^captured ') then return answer('captured', 0, units) end
local held, overdue_at, _, held_at, key = open_hold(state)
log_holds(ARGV[1])
units.balance = units.balance + held
end_hold(units,
  { units = held, state = 'released', entry = ARGV[2], overdue_at = overdue_at,
    forget_until = ARGV[6], forget_count = ARGV[7] },
  { at = ARGV[5], kind = ARGV[3], units = held, released = 0, subject = ARGV[1], note = ARGV[4] })
give_back_to_key(key, held_at, held)
return answer('released', 0, units)
