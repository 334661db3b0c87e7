-- One version of a query, read at one instant. KEYS: query. ARGV: version, '' for the latest.
local query = redis.call('HMGET', KEYS[1], 'latest', 'handle', 'settings', 'createdAtMs', 'updatedAtMs', 'dueAtMs')
if not query[3] then return false end
local version = ARGV[1] == '' and query[1] or ARGV[1]
local content = redis.call('HMGET', KEYS[1], 'content:' .. version, 'at:' .. version)
if not content[1] then return false end
return { version, query[1], query[2], query[3], query[4], query[5], query[6], content[1], content[2] }
