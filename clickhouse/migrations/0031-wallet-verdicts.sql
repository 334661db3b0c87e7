-- The verdict on each wallet in each role that it has settlements in, with what it is made of (ingest/verdicts). A pass writes all of its
-- rows under a new `gen` and is visible once `verdict_passes` names it, so readers see one pass whole or not at all. Partitioned by pass:
-- an old one is dropped without rewriting anything. Shares are in ten-thousandths, rounded down, as the thresholds are
-- (core/domain/data-quality.ts); -1 where there is no base.
CREATE TABLE IF NOT EXISTS wallet_verdicts
(
    wallet String CODEC(ZSTD(1)),
    role LowCardinality(String),
    verdict LowCardinality(String),
    reasons Array(LowCardinality(String)),
    rings Array(Array(String)) CODEC(ZSTD(1)),
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    self_share Int16 CODEC(ZSTD(1)),
    concentration Int16 CODEC(ZSTD(1)),
    largest_share Int16 CODEC(ZSTD(1)),
    reciprocal_share Int16 CODEC(ZSTD(1)),
    judged_at DateTime('UTC') CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, role)
SETTINGS index_granularity = 1024;

-- Finished passes; the highest `gen` is the one that readers see. `basis`: what the pass was computed from.
CREATE TABLE IF NOT EXISTS verdict_passes
(
    gen UInt64,
    basis String,
    method_version LowCardinality(String),
    verdicts UInt64,
    judged_at DateTime('UTC'),
    finished_at DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY gen
TTL finished_at + INTERVAL 90 DAY;
