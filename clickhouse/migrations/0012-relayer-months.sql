-- Months that are over, merged from the closed slices of relayer_day: the list of facilitators merges the states of a dozen
-- months instead of those of every day. A month counts while `writes` is what hour_ver says of it; otherwise its slices do.
CREATE TABLE IF NOT EXISTS relayer_month
(
    chain LowCardinality(String),
    relayer FixedString(20) CODEC(ZSTD(1)),
    month Date,
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    payers AggregateFunction(uniqCombined64(14), FixedString(20)) CODEC(ZSTD(1)),
    payees AggregateFunction(uniqCombined64(14), FixedString(20)) CODEC(ZSTD(1)),
    first_time DateTime('UTC') CODEC(ZSTD(1)),
    last_time DateTime('UTC') CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (chain, relayer, month)
SETTINGS index_granularity = 256;

-- What each month was merged from, written after it.
CREATE TABLE IF NOT EXISTS month_state
(
    month Date,
    writes UInt64,
    gen UInt64
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY month;
