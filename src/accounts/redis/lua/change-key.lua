-- KEYS: key, record of what was done to the organization's keys. ARGV: organization, at, the entry in that record, the most entries
-- that are kept; then fields in turn with their values, '=' before a value and '-' alone for a field that goes.
if redis.call('HGET', KEYS[1], 'organizationId') ~= ARGV[1] then return 'unknown' end
local revoked = redis.call('HGET', KEYS[1], 'revokedAtMs')
if revoked and tonumber(revoked) <= tonumber(ARGV[2]) then return 'revoked' end
local after = {}
local found = redis.call('HMGET', KEYS[1], 'managesKeys', 'unitsPerDay', 'operations')
-- A key without any of the fields may do everything.
after.managesKeys, after.unitsPerDay, after.operations = found[1] or '1', found[2], found[3]
for i = 5, #ARGV, 2 do
  after[ARGV[i]] = ARGV[i + 1] ~= '-' and string.sub(ARGV[i + 1], 2)
end
if after.managesKeys == '1' and (after.unitsPerDay or after.operations) then return 'not_both' end
for field, value in pairs(after) do
  if value then redis.call('HSET', KEYS[1], field, value) else redis.call('HDEL', KEYS[1], field) end
end
redis.call('RPUSH', KEYS[2], ARGV[3])
redis.call('LTRIM', KEYS[2], -ARGV[4], -1)
return 'changed'
