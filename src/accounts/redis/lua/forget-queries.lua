-- KEYS: runs of the organization in order, runs that may be forgotten (the same, or the runs of one key), times up to which runs were
-- forgotten. ARGV: the entry to forget or ''; the last entry that is forgotten and the time and field that are remembered for it; what
-- the names of runs and of the lists of keys begin with.
local entries
if ARGV[1] ~= '' then
  entries = redis.call('ZSCORE', KEYS[2], ARGV[1]) and { ARGV[1] } or {}
else
  local before = redis.call('HGET', KEYS[3], ARGV[4])
  if not before or tonumber(before) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[3], ARGV[4], ARGV[3]) end
  entries = redis.call('ZRANGEBYLEX', KEYS[2], '-', ARGV[2])
end
local forgotten = 0
for _, entry in ipairs(entries) do
  local run = redis.call('GET', ARGV[5] .. entry)
  if run then
    redis.call('ZREM', ARGV[6] .. string.match(run, '^[^\n]*'), entry)
    redis.call('DEL', ARGV[5] .. entry)
    forgotten = forgotten + 1
  end
  redis.call('ZREM', KEYS[1], entry)
  redis.call('ZREM', KEYS[2], entry)
end
return tostring(forgotten)
