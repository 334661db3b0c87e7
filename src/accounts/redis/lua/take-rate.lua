-- KEYS: window. ARGV: now, window in milliseconds, how long it is kept; when the window opened in which the process counted requests
-- by itself, and how many: they are added where that window is still the open one. Answers the count and when the window opened.
-- Counters need not survive a restart: kept out of the append-only file, they cost no write to disk.
if redis.set_repl then redis.set_repl(redis.REPL_NONE) end
local opened = redis.call('HGET', KEYS[1], 'opened')
if not opened or tonumber(ARGV[1]) >= tonumber(opened) + tonumber(ARGV[2]) then
  opened = ARGV[1]
  redis.call('HSET', KEYS[1], 'opened', opened, 'count', '1')
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return { '1', opened }
end
local taken = 1
if opened == ARGV[4] then taken = taken + tonumber(ARGV[5]) end
return { tostring(redis.call('HINCRBY', KEYS[1], 'count', taken)), opened }
