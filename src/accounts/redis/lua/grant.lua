-- KEYS: organization, ledger, grants. ARGV: grant id, units, note, at, largest sum.
local units = read_units(KEYS[1])
if redis.call('EXISTS', KEYS[1]) == 0 then return answer('unknown', 0, units) end
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return answer('replayed', 0, units) end
local granted = tonumber(ARGV[2])
if units.granted + granted > tonumber(ARGV[5]) then return answer('too_large', 0, units) end
units.granted = units.granted + granted
units.balance = units.balance + granted
redis.call('SADD', KEYS[3], ARGV[1])
write_units(KEYS[1], units)
write_row(KEYS[2], units,
  { at = ARGV[4], kind = 'grant', units = granted, released = 0, subject = ARGV[1], note = ARGV[3] })
return answer('granted', 0, units)
