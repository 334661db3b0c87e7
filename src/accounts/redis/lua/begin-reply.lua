-- KEYS: reply. ARGV: digest of the request, now, lease until, keep until, how long Redis keeps it (milliseconds).
local found = redis.call('HMGET', KEYS[1], 'request', 'leaseUntilMs', 'keepUntilMs', 'reply')
local now = tonumber(ARGV[2])
if found[1] and tonumber(found[3]) > now then
  if found[1] ~= ARGV[1] then return { 'conflict', '' } end
  if found[4] then return { 'done', found[4] } end
  if tonumber(found[2]) > now then return { 'running', '' } end
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'request', ARGV[1], 'leaseUntilMs', ARGV[3], 'keepUntilMs', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return { 'begun', '' }
