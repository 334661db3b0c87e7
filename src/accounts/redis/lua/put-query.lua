-- KEYS: organization, query, slugs of the organization, public queries, refreshes by the time at which they are looked at. ARGV: slug,
-- entry of the query, its organization in percent encoding, content, settings, 1 where it is public, seconds between refreshes or '',
-- at, how many queries and versions there may be, what lists show of it.
local ORGANIZATION, QUERY, SLUGS, PUBLIC, DUE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local slug, entry, content, settings, refresh, at = ARGV[1], ARGV[2], ARGV[4], ARGV[5], ARGV[7], ARGV[8]
local handle = redis.call('HGET', ORGANIZATION, 'handle')
if not handle then return { 'no_handle', 0 } end
local before = redis.call('HMGET', QUERY, 'latest', 'settings', 'refreshSeconds', 'versions')
local latest, is_there = tonumber(before[1] or '0'), before[2] ~= false
local versions = tonumber(before[4] or '0')
if not is_there and redis.call('ZCARD', SLUGS) >= tonumber(ARGV[9]) then return { 'too_many', 0 } end
local is_same = is_there and redis.call('HGET', QUERY, 'content:' .. latest) == content
if is_same and before[2] == settings and (before[3] or '') == refresh then return { 'unchanged', latest } end
if not is_same and is_there and versions >= tonumber(ARGV[10]) then return { 'too_many', 0 } end
if not is_same then
  latest = latest + 1
  redis.call('HSET', QUERY, 'latest', latest, 'versions', versions + 1, 'content:' .. latest, content, 'at:' .. latest, at)
end
redis.call('HSET', QUERY, 'handle', handle, 'settings', settings, 'listing', ARGV[11], 'isPublic', ARGV[6], 'updatedAtMs', at)
redis.call('HSETNX', QUERY, 'createdAtMs', at)
redis.call('ZADD', SLUGS, 0, slug)
local listed = handle .. ' ' .. slug .. ' ' .. ARGV[3]
if ARGV[6] == '1' then redis.call('ZADD', PUBLIC, 0, listed) else redis.call('ZREM', PUBLIC, listed) end
if refresh == '' then
  redis.call('HDEL', QUERY, 'refreshSeconds', 'dueAtMs', 'failures')
  redis.call('ZREM', DUE, entry)
elseif not is_same or before[3] ~= refresh then
  redis.call('HSET', QUERY, 'refreshSeconds', refresh, 'dueAtMs', at, 'failures', 0)
  redis.call('ZADD', DUE, at, entry)
end
if is_same then return { 'changed', latest } end
return { is_there and 'new_version' or 'created', latest }
