-- The short form of a query. KEYS: query. A query that an earlier version saved gets its own when it is listed first.
local found = redis.call('HMGET', KEYS[1], 'handle', 'latest', 'updatedAtMs', 'settings', 'listing')
if not found[4] then return false end
local listing = found[5]
if not listing then
  local content = cjson.decode(redis.call('HGET', KEYS[1], 'content:' .. found[2]))
  local settings = cjson.decode(found[4])
  local names = {}
  for at, parameter in ipairs(content.parameters) do
    if at <= 20 then names[at] = cjson.encode(parameter.name) end
  end
  local description = content.description
  -- Whole characters: a byte of 10xxxxxx goes on with the one before.
  local last = 300
  while last > 0 and #description > last and string.byte(description, last + 1) >= 128 and string.byte(description, last + 1) < 192 do
    last = last - 1
  end
  listing = '{"title":' .. cjson.encode(content.title) .. ',"description":' .. cjson.encode(string.sub(description, 1, last))
    .. ',"tier":' .. cjson.encode(content.tier) .. ',"maxQu":' .. cjson.encode(content.maxQu)
    .. ',"parameters":[' .. table.concat(names, ',') .. '],"visibility":' .. cjson.encode(settings.visibility)
    .. ',"priceQu":' .. cjson.encode(settings.priceQu) .. '}'
  redis.call('HSET', KEYS[1], 'listing', listing)
end
return { found[1], found[2], found[3], listing }
