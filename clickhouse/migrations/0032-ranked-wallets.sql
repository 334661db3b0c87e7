-- The wallets that rankings list, with the figures of a window that ends at the moment of a pass of the worker (ingest/rankings). A pass
-- writes all of its rows under a new `gen` and is visible once `ranking_passes` names it, so a ranking is one pass whole.
-- Figures end in the number of windows back: 0 is the window, 1 the one before it. `chain` is empty for all chains together. `excluded` are
-- the wallets whose payments with this one are not organic; itself is one where it paid itself.
-- `lost_days` (days since 1970, with their settlements and dollars) is what those payments were worth in the window.
CREATE TABLE IF NOT EXISTS ranked_wallets
(
    span LowCardinality(String),
    role LowCardinality(String),
    chain LowCardinality(String),
    wallet FixedString(20) CODEC(ZSTD(1)),
    organic_usd0 Decimal(38, 6) CODEC(ZSTD(1)),
    organic_usd1 Decimal(38, 6) CODEC(ZSTD(1)),
    organic_usd2 Decimal(38, 6) CODEC(ZSTD(1)),
    organic_proven0 Decimal(38, 6) CODEC(ZSTD(1)),
    organic_proven1 Decimal(38, 6) CODEC(ZSTD(1)),
    organic_count0 UInt64 CODEC(ZSTD(1)),
    organic_count1 UInt64 CODEC(ZSTD(1)),
    parties0 UInt64 CODEC(ZSTD(1)),
    parties1 UInt64 CODEC(ZSTD(1)),
    other_usd Decimal(38, 6) CODEC(ZSTD(1)),
    other_count UInt64 CODEC(ZSTD(1)),
    verdict LowCardinality(String),
    excluded Array(FixedString(20)) CODEC(ZSTD(1)),
    lost_days Array(UInt16) CODEC(ZSTD(1)),
    lost_count Array(UInt64) CODEC(ZSTD(1)),
    lost_usd Array(Decimal(38, 6)) CODEC(ZSTD(1)),
    lost_proven Array(Decimal(38, 6)) CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (role, chain, wallet)
SETTINGS index_granularity = 512;

-- Finished passes; of those of a span the one with the highest `gen` is read. `ranked_at` is the moment that its windows end at.
CREATE TABLE IF NOT EXISTS ranking_passes
(
    gen UInt64,
    span LowCardinality(String),
    ranked_at DateTime('UTC'),
    wallets UInt64,
    took_ms UInt64,
    finished_at DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (span, gen)
TTL finished_at + INTERVAL 30 DAY;
