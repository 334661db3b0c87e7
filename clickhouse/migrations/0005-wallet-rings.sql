-- Payment rings of each wallet, found by a pass of the worker (ingest/rings). A pass writes all of its rows under a new `gen` and
-- is visible once `ring_passes` names it, so readers see one pass whole or not at all. Partitioned by pass: an old one is dropped
-- without rewriting anything.
CREATE TABLE IF NOT EXISTS wallet_rings
(
    wallet String CODEC(ZSTD(1)),
    length UInt8,
    members Array(String) CODEC(ZSTD(1)),
    bottleneck_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ring_usd Decimal(38, 6) CODEC(ZSTD(1)),
    window_start DateTime('UTC') CODEC(ZSTD(1)),
    window_end DateTime('UTC') CODEC(ZSTD(1)),
    method_version LowCardinality(String),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, length, members);

-- Finished passes; the highest `gen` is the one that readers see. `capped` names the limits that a pass ran into.
CREATE TABLE IF NOT EXISTS ring_passes
(
    gen UInt64,
    window_start DateTime('UTC'),
    window_end DateTime('UTC'),
    method_version LowCardinality(String),
    wallets UInt64,
    edges UInt64,
    rings UInt64,
    capped Array(LowCardinality(String)),
    finished_at DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY gen
TTL finished_at + INTERVAL 90 DAY;
