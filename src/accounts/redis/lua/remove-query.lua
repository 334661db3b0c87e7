-- KEYS: query, slugs of the organization, public queries, refreshes, runs of the query. ARGV: slug, entry of the query, its
-- organization in percent encoding. The number of the latest version stays.
local found = redis.call('HMGET', KEYS[1], 'latest', 'settings', 'handle')
if not found[2] then return 0 end
redis.call('DEL', KEYS[1], KEYS[5])
redis.call('HSET', KEYS[1], 'latest', found[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], found[3] .. ' ' .. ARGV[1] .. ' ' .. ARGV[3])
redis.call('ZREM', KEYS[4], ARGV[2])
return 1
