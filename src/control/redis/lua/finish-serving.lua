-- KEYS: payment. ARGV: attempt, next state. Only the latest attempt may finish, once.
local found = redis.call('HMGET', KEYS[1], 'state', 'attempts')
if found[1] == 'serving' and found[2] == ARGV[1] then redis.call('HSET', KEYS[1], 'state', ARGV[2]) end
return 'done'
