-- Several records of one instant, for a backup. KEYS: names. ARGV: what the names of keys begin with, where KEYS[1] is a payment:
-- the key that it bought is copied with it. Answers each with its name, value as DUMP gives it, PTTL, and of a list its length alone.
local names = {}
for i, name in ipairs(KEYS) do names[i] = name end
local bought = ARGV[1] and redis.call('HGET', KEYS[1], 'keyId')
if bought then names[#names + 1] = ARGV[1] .. bought end
local out = {}
for i, name in ipairs(names) do
  if redis.call('TYPE', name).ok == 'list' then
    out[i] = { name, false, -1, redis.call('LLEN', name) }
  else
    out[i] = { name, redis.call('DUMP', name), redis.call('PTTL', name), 0 }
  end
end
return out
