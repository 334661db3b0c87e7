-- Put before grant, hold, capture and release: all four read and write an organization's units the same way. The first keys of each:
-- organization, ledger, holds, resolved holds by overdue time, open holds of all organizations by overdue time, unlogged holds. The
-- first value is what the names of keys of callers begin with: which key a hold belongs to is known only in here.
local ORGANIZATION, LEDGER, HOLDS, RESOLVED, OPEN, UNLOGGED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local CALLER_KEYS = table.remove(ARGV, 1)
local DAY_MS = 86400000

local function read_units()
  local found = redis.call('HMGET', ORGANIZATION, 'granted', 'balance', 'held', 'spent')
  return {
    granted = tonumber(found[1] or '0'),
    balance = tonumber(found[2] or '0'),
    held = tonumber(found[3] or '0'),
    spent = tonumber(found[4] or '0'),
  }
end

-- Lua 5.1 prints numbers with 14 digits; '%.0f' prints every whole number below 2^53 exactly.
local function digits(number)
  return string.format('%.0f', number)
end

local function write_units(units)
  redis.call('HSET', ORGANIZATION, 'granted', digits(units.granted), 'balance', digits(units.balance),
    'held', digits(units.held), 'spent', digits(units.spent))
end

-- The place in the list is the sequence, so it cannot have gaps.
local function write_row(units, row)
  redis.call('RPUSH', LEDGER, cjson.encode({ row.at, row.kind, digits(row.units), digits(row.released), row.subject,
    row.note, digits(units.balance), digits(units.held) }))
end

local function answer(outcome, charged, units)
  return { outcome, digits(charged), digits(units.granted), digits(units.balance), digits(units.held),
    digits(units.spent) }
end

-- An open hold is 'open <units> <held at> <overdue at> <operation>', a resolved one 'captured <units>' or 'released'. Behind the
-- time of a hold stands its key, '/<id in percent encoding>', where the call came with one.
local function open_hold(state)
  local units, held, overdue_at, operation = string.match(state, '^open (%d+) (%S+) (%S+) (.*)$')
  local held_at, key = string.match(held or '', '^([^/]*)/?(.*)$')
  return tonumber(units), overdue_at, operation, held_at, key
end

local function day_of(at)
  return math.floor(tonumber(at) / DAY_MS)
end

local function caller_key(encoded)
  return CALLER_KEYS .. string.gsub(encoded, '%%(%x%x)', function(hex) return string.char(tonumber(hex, 16)) end)
end

-- Units that a key may not begin calls with any more: its budget, the used part of it, and the day that it is used on.
local function key_budget(encoded, held_at)
  local found = redis.call('HMGET', caller_key(encoded), 'kind', 'unitsPerDay', 'usedDay', 'usedUnits')
  local day = day_of(held_at)
  local used_day, used = tonumber(found[3] or '0'), tonumber(found[4] or '0')
  if used_day < day then used_day, used = day, 0 end
  return { is_there = found[1], per_day = tonumber(found[2] or ''), day = used_day, used = used }
end

local function set_used(encoded, day, used)
  redis.call('HSET', caller_key(encoded), 'usedDay', digits(day), 'usedUnits', digits(used))
end

-- Of a hold that ended: only units of the day that the key's units are counted for are free again.
local function give_back_to_key(encoded, held_at, units)
  if not encoded or encoded == '' or units == 0 then return end
  local budget = key_budget(encoded, held_at)
  if budget.is_there and budget.day == day_of(held_at) then
    set_used(encoded, budget.day, math.max(0, budget.used - units))
  end
end

-- Sets units aside, which must be free. Whether the hold is open is what its state says; the list of open holds is the caller's.
local function add_hold(units, id, hold)
  units.balance = units.balance - hold.units
  units.held = units.held + hold.units
  local held = hold.held_at
  if hold.key ~= '' then
    held = held .. '/' .. hold.key
    local budget = key_budget(hold.key, hold.held_at)
    if budget.is_there then set_used(hold.key, budget.day, budget.used + hold.units) end
  end
  redis.call('HSET', HOLDS, id,
    'open ' .. digits(hold.units) .. ' ' .. held .. ' ' .. hold.overdue_at .. ' ' .. hold.operation)
  write_row(units,
    { at = hold.held_at, kind = 'hold', units = hold.units, released = 0, subject = id, note = hold.operation })
end

-- A hold matters only while the call lasts, so it is kept out of the append-only file and its answer does not wait for the disk. The
-- list of unlogged holds says so: how many rows the ledger has without them, then each one's id and entry among the open holds.
-- Nothing that is logged may follow an unlogged row, so every other change logs them first. Here the rows are cut off and put back,
-- which changes nothing; a replica or a rewritten file may have them or not, and has them once afterwards.
-- `ending` is the hold that the caller ends: its state is about to be replaced.
local function log_holds(ending)
  local unlogged = redis.call('LRANGE', UNLOGGED, 0, -1)
  if #unlogged == 0 then return end
  local logged_rows = tonumber(unlogged[1])
  local rows = redis.call('LRANGE', LEDGER, logged_rows, -1)
  -- There is one at least, the grant that the units came from: from 0 to -1 would be the whole ledger.
  redis.call('LTRIM', LEDGER, 0, logged_rows - 1)
  for _, row in ipairs(rows) do redis.call('RPUSH', LEDGER, row) end
  for i = 2, #unlogged, 2 do
    local id, entry = unlogged[i], unlogged[i + 1]
    local state = id ~= ending and redis.call('HGET', HOLDS, id)
    local is_open, overdue_at, _, _, key = open_hold(redis.call('HGET', HOLDS, id) or '')
    -- The units that its key has used were changed with the unlogged hold, also with the one that ends now.
    if is_open and key ~= '' then
      local used = redis.call('HMGET', caller_key(key), 'usedDay', 'usedUnits')
      if used[1] then redis.call('HSET', caller_key(key), 'usedDay', used[1], 'usedUnits', used[2]) end
    end
    if is_open and state then
      redis.call('HSET', HOLDS, id, state)
      -- A score that stays the same would not be logged.
      redis.call('ZREM', OPEN, entry)
      redis.call('ZADD', OPEN, overdue_at, entry)
    end
  end
  redis.call('DEL', UNLOGGED)
end

-- Of those that were resolved long ago, a few.
local function forget_holds(overdue_until, count)
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', RESOLVED, '-inf', overdue_until, 'LIMIT', 0, count)) do
    redis.call('HDEL', HOLDS, old)
    redis.call('ZREM', RESOLVED, old)
  end
end

-- The end of an open hold: only its state remains, for repetitions.
local function end_hold(units, hold, row)
  forget_holds(hold.forget_until, hold.forget_count)
  units.held = units.held - hold.units
  redis.call('HSET', HOLDS, row.subject, hold.state)
  redis.call('ZADD', RESOLVED, hold.overdue_at, row.subject)
  redis.call('ZREM', OPEN, hold.entry)
  write_units(units)
  write_row(units, row)
end

-- Whether what was paid for covers the share of an author and the units of the run: isCovered of core/domain/sale.ts.
local function is_covered(share, run, paid)
  share, run, paid = tonumber(share or ''), tonumber(run or ''), tonumber(paid or '')
  return share ~= nil and run ~= nil and paid ~= nil and share >= 1 and run >= 1 and share + run <= paid
end

-- Units for the organization that the names are set to. With an operation they are counted in its usage as earned.
local function grant_units(grants, usage, grant)
  if redis.call('EXISTS', ORGANIZATION) == 0 then return 'unknown' end
  if redis.call('SISMEMBER', grants, grant.id) == 1 then return 'replayed' end
  local units, granted = read_units(), tonumber(grant.units)
  if units.granted + granted > tonumber(grant.largest) then return 'too_large' end
  log_holds()
  units.granted = units.granted + granted
  units.balance = units.balance + granted
  redis.call('SADD', grants, grant.id)
  write_units(units)
  write_row(units, { at = grant.at, kind = 'grant', units = granted, released = 0, subject = grant.id, note = grant.note })
  if grant.operation ~= '' then
    local name = digits(day_of(grant.at)) .. '//earned/' .. grant.operation
    redis.call('HINCRBY', usage, name .. '/calls', 1)
    redis.call('HINCRBY', usage, name .. '/units', granted)
  end
  return 'granted'
end
