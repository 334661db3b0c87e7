-- KEYS: the keys of units-common, grants, what the names of the organization's usage begin with. ARGV: grant id, units, note, at, largest
-- sum, the month of the usage.
local outcome = grant_units(KEYS[7], KEYS[8] .. ARGV[6],
  { id = ARGV[1], units = ARGV[2], note = ARGV[3], at = ARGV[4], largest = ARGV[5], operation = '' })
return answer(outcome, 0, read_units())
