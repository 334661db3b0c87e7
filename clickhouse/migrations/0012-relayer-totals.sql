-- What every relayer did in all slices before a moment, merged from relayer_day: a list of relayers reads one row of each instead
-- of one for every day, and most of a row is its two states (ingest/rollup/relayer-totals.ts). A pass writes all of its rows under
-- a new `gen` and is visible once relayer_total_passes names it. Partitioned by pass: an old one is dropped without rewriting
-- anything. Very small granules, because a page asks for 50 relayers all over the key.
CREATE TABLE IF NOT EXISTS relayer_totals
(
    chain LowCardinality(String),
    relayer FixedString(20) CODEC(ZSTD(1)),
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    payers AggregateFunction(uniqCombined64(14), FixedString(20)) CODEC(ZSTD(1)),
    payees AggregateFunction(uniqCombined64(14), FixedString(20)) CODEC(ZSTD(1)),
    first_time DateTime('UTC') CODEC(ZSTD(1)),
    last_time DateTime('UTC') CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (chain, relayer)
SETTINGS index_granularity = 8;

-- Finished passes; the highest `gen` is the one that readers see, and only while `basis` is still what the slices before `until`
-- say (clickhouse/rollup-basis.ts).
CREATE TABLE IF NOT EXISTS relayer_total_passes
(
    gen UInt64,
    until DateTime('UTC'),
    basis String,
    finished_at DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY gen
TTL finished_at + INTERVAL 90 DAY;
