-- KEYS: the keys of units-common. ARGV: hold id, its entry among the open holds, units, held at, overdue at, operation; the largest number
-- of holds that are kept out of the append-only file, which bounds the time of the change that logs them; the key of the call or ''.
local units = read_units()
if redis.call('EXISTS', ORGANIZATION) == 0 then return answer('unknown', 0, units) end
if redis.call('HEXISTS', HOLDS, ARGV[1]) == 1 then return answer('replayed', 0, units) end
local wanted = tonumber(ARGV[3])
if ARGV[8] ~= '' then
  local budget = key_budget(ARGV[8], ARGV[4])
  if budget.per_day and budget.used + wanted > budget.per_day then
    local refused = answer('over_budget', 0, units)
    refused[#refused + 1], refused[#refused + 2] = digits(budget.per_day), digits(budget.used)
    return refused
  end
end
if units.balance < wanted then return answer('insufficient', 0, units) end
if redis.call('LLEN', UNLOGGED) > 2 * tonumber(ARGV[7]) then
  log_holds()
elseif redis.set_repl then
  redis.set_repl(redis.REPL_NONE)
  if redis.call('EXISTS', UNLOGGED) == 0 then redis.call('RPUSH', UNLOGGED, redis.call('LLEN', LEDGER)) end
  redis.call('RPUSH', UNLOGGED, ARGV[1], ARGV[2])
end
add_hold(units, ARGV[1], { units = wanted, held_at = ARGV[4], overdue_at = ARGV[5], operation = ARGV[6], key = ARGV[8] })
redis.call('ZADD', OPEN, ARGV[5], ARGV[2])
write_units(units)
return answer('held', 0, units)
