-- The share that a payment was claimed with. KEYS: the keys of grant.lua for the author's organization, the payment. ARGV: the author's
-- organization, grant id, at, largest sum, the month of the usage. The amount is what the payment's record says.
local found = redis.call('HMGET', KEYS[9], 'state', 'saleUnits', 'shareOrganizationId', 'shareUnits', 'shareRunUnits', 'shareNote',
  'shareOperation')
if not found[1] then return 'unknown' end
if found[1] == 'settling' then return 'unsettled' end
if found[3] ~= ARGV[1] or not is_covered(found[4], found[5], found[2]) then return 'no_share' end
return grant_units(KEYS[7], KEYS[8] .. ARGV[5],
  { id = ARGV[2], units = found[4], note = found[6], at = ARGV[3], largest = ARGV[4], operation = found[7] })
