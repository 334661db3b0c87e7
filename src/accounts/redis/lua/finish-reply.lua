-- KEYS: reply. ARGV: 'keep' or 'forget', and the reply. A reply once kept stands.
local found = redis.call('HMGET', KEYS[1], 'request', 'reply')
if not found[1] or found[2] then return 'nothing' end
if ARGV[1] == 'forget' then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 'reply', ARGV[2])
end
return 'done'
