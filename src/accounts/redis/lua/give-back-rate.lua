-- KEYS: window. ARGV: when the request was counted, window in milliseconds. Nothing where that window is not the open one.
if redis.set_repl then redis.set_repl(redis.REPL_NONE) end
local opened, count = unpack(redis.call('HMGET', KEYS[1], 'opened', 'count'))
if not opened then return 'ended' end
local taken_at = tonumber(ARGV[1])
if taken_at < tonumber(opened) or taken_at >= tonumber(opened) + tonumber(ARGV[2]) then return 'ended' end
if tonumber(count) > 0 then redis.call('HINCRBY', KEYS[1], 'count', -1) end
return 'given_back'
