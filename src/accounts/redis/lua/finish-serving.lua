-- KEYS: payment. ARGV: attempt, next state; for how long a served payment is kept after its authorization ended, and how much
-- longer by the clock of Redis, both in milliseconds; how many attempts are not counted. Only the latest attempt may finish, once.
local found = redis.call('HMGET', KEYS[1], 'state', 'attempts', 'expiresAtMs', 'servingAtMs', 'shareUnits')
if found[1] ~= 'serving' or found[2] ~= ARGV[1] then return 'done' end
redis.call('HSET', KEYS[1], 'state', ARGV[2])
if ARGV[5] ~= '0' then redis.call('HINCRBY', KEYS[1], 'attempts', -tonumber(ARGV[5])) end
if ARGV[2] == 'served' then redis.call('HDEL', KEYS[1], 'sold') end
-- One with a share is kept: it says what its grant was paid with.
if ARGV[2] == 'served' and found[4] and not found[5] then
  local left = math.max(0, tonumber(found[3]) - tonumber(found[4]) + tonumber(ARGV[3])) + tonumber(ARGV[4])
  -- An authorization without an end in sight is remembered for good.
  if left < 2 ^ 53 then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', left)) end
end
return 'done'
