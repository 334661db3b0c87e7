-- KEYS: counts of an account in a month, one for each of the counts that follow. ARGV: the field and the addend, in turn.
for i, name in ipairs(KEYS) do
  redis.call('HINCRBY', name, ARGV[2 * i - 1], ARGV[2 * i])
end
return 'counted'
