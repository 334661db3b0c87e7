-- KEYS: the keys of units-common, what the names of the organization's usage begin with; with a share those of grant.lua for its
-- organization. ARGV: hold id, its entry among the open holds,
-- units, at; the overdue time up to which resolved holds are forgotten, and how many of them; the month of the usage; where the hold
-- is to be made again if it was lost: its units, held at, overdue at, operation, key or '' (all '' otherwise); with a share its id, units,
-- note, largest sum, the operation that earned it, the units of the run.
local units = read_units()
local charged = tonumber(ARGV[3])
local state = redis.call('HGET', HOLDS, ARGV[1])
if state == 'released' then return answer('released', 0, units) end
local before = state and string.match(state, '^captured (%d+)$')
if before then return answer('replayed', tonumber(before), units) end
local held, overdue_at, operation, held_at, key = open_hold(state or '')
if not state and ARGV[8] ~= '' then
  held, held_at, overdue_at, operation, key = tonumber(ARGV[8]), ARGV[9], ARGV[10], ARGV[11], ARGV[12]
end
if not held or (not state and units.balance < held) then return answer('unknown', 0, units) end
if charged > held then return answer('more_than_held', 0, units) end
if ARGV[13] and not is_covered(ARGV[14], ARGV[18], charged) then return answer('not_covered', 0, units) end
log_holds(ARGV[1])
if not state then
  add_hold(units, ARGV[1], { units = held, held_at = held_at, overdue_at = overdue_at, operation = operation, key = key })
end
units.spent = units.spent + charged
units.balance = units.balance + held - charged
end_hold(units,
  { units = held, state = 'captured ' .. digits(charged), entry = ARGV[2], overdue_at = overdue_at,
    forget_until = ARGV[5], forget_count = ARGV[6] },
  { at = ARGV[4], kind = 'capture', units = charged, released = held - charged, subject = ARGV[1], note = operation })
give_back_to_key(key, held_at, held - charged)
local name = digits(day_of(ARGV[4])) .. '/' .. key .. '/units/' .. operation
redis.call('HINCRBY', KEYS[7] .. ARGV[7], name .. '/calls', 1)
if charged > 0 then redis.call('HINCRBY', KEYS[7] .. ARGV[7], name .. '/units', charged) end
if ARGV[13] then
  ORGANIZATION, LEDGER, HOLDS, RESOLVED, OPEN, UNLOGGED = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
  grant_units(KEYS[14], KEYS[15] .. ARGV[7],
    { id = ARGV[13], units = ARGV[14], note = ARGV[15], at = ARGV[4], largest = ARGV[16], operation = ARGV[17] })
end
return answer('captured', charged, units)
