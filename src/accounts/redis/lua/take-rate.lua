-- KEYS: window. ARGV: now, window in milliseconds, how long it is kept. Answers the count and when the window opened.
-- Counters need not survive a restart: kept out of the append-only file, they cost no write to disk.
if redis.set_repl then redis.set_repl(redis.REPL_NONE) end
local opened = redis.call('HGET', KEYS[1], 'opened')
if not opened or tonumber(ARGV[1]) >= tonumber(opened) + tonumber(ARGV[2]) then
  opened = ARGV[1]
  redis.call('HSET', KEYS[1], 'opened', opened, 'count', '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return { '1', opened }
end
return { tostring(redis.call('HINCRBY', KEYS[1], 'count', 1)), opened }
