-- KEYS: organization, table, sizes of the organization's tables by name. ARGV: name, id, facts, bytes, at, content, how many tables and
-- bytes there may be.
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown_organization' end
local sizes = redis.call('HGETALL', KEYS[3])
local tables, bytes, outcome = 1, tonumber(ARGV[4]), 'created'
for i = 1, #sizes, 2 do
  if sizes[i] == ARGV[1] then
    outcome = 'replaced'
  else
    tables, bytes = tables + 1, bytes + tonumber(sizes[i + 1])
  end
end
if tables > tonumber(ARGV[7]) then return 'too_many' end
if bytes > tonumber(ARGV[8]) then return 'too_large' end
redis.call('HSET', KEYS[2], 'id', ARGV[2], 'facts', ARGV[3], 'bytes', ARGV[4], 'atMs', ARGV[5], 'content', ARGV[6])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[4])
return outcome
