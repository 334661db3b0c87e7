-- Put before grant, hold, capture and release: all four read and write an organization's units the same way.

local function read_units(organization)
  local found = redis.call('HMGET', organization, 'granted', 'balance', 'held', 'spent')
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

local function write_units(organization, units)
  redis.call('HSET', organization, 'granted', digits(units.granted), 'balance', digits(units.balance),
    'held', digits(units.held), 'spent', digits(units.spent))
end

-- The place in the list is the sequence, so it cannot have gaps.
local function write_row(ledger, units, row)
  redis.call('RPUSH', ledger, cjson.encode({ row.at, row.kind, digits(row.units), digits(row.released), row.subject,
    row.note, digits(units.balance), digits(units.held) }))
end

local function answer(outcome, charged, units)
  return { outcome, digits(charged), digits(units.granted), digits(units.balance), digits(units.held),
    digits(units.spent) }
end

-- An open hold is 'open <units> <held at> <overdue at> <operation>', a resolved one 'captured <units>' or 'released'.
local function open_hold(state)
  local units, overdue_at, operation = string.match(state, '^open (%d+) %S+ (%S+) (.*)$')
  return tonumber(units), overdue_at, operation
end
