-- KEYS: those of units-common, grants. ARGV: grant id, units, note, at, largest sum.
local GRANTS = KEYS[7]
local units = read_units()
if redis.call('EXISTS', ORGANIZATION) == 0 then return answer('unknown', 0, units) end
if redis.call('SISMEMBER', GRANTS, ARGV[1]) == 1 then return answer('replayed', 0, units) end
local granted = tonumber(ARGV[2])
if units.granted + granted > tonumber(ARGV[5]) then return answer('too_large', 0, units) end
log_holds()
units.granted = units.granted + granted
units.balance = units.balance + granted
redis.call('SADD', GRANTS, ARGV[1])
write_units(units)
write_row(units, { at = ARGV[4], kind = 'grant', units = granted, released = 0, subject = ARGV[1], note = ARGV[3] })
return answer('granted', 0, units)
