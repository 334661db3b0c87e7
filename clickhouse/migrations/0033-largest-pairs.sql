-- Who paid whom most in so many whole UTC days before a midnight (ingest/graphs): the pairs that a graph of these `days` shows. A pass writes
-- all of its rows under a new `gen` and is visible once `largest_pair_passes` names it. `rank` counts from 1 in the order of dollars, payer
-- and payee; rank 0 is all payments of wallets to themselves, and there is one of each chain, if only of none. `chain` is empty for all
-- chains together.
CREATE TABLE IF NOT EXISTS largest_pairs
(
    days UInt16,
    chain LowCardinality(String),
    rank UInt32 CODEC(Delta, ZSTD(1)),
    payer FixedString(20) CODEC(ZSTD(1)),
    payee FixedString(20) CODEC(ZSTD(1)),
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    first_time DateTime('UTC') CODEC(ZSTD(1)),
    last_time DateTime('UTC') CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (chain, rank)
SETTINGS index_granularity = 512;

-- Finished passes over the `days` days before `until`. `basis`: what of the rollups a pass was computed from (`rollupBasis`). It is read only
-- while that is still so.
CREATE TABLE IF NOT EXISTS largest_pair_passes
(
    gen UInt64,
    days UInt16,
    until DateTime('UTC'),
    basis String,
    took_ms UInt64,
    finished_at DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (days, gen)
TTL finished_at + INTERVAL 30 DAY;
