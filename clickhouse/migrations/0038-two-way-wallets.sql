-- The wallets whose payments may not be organic: those that pay and are paid in the windows of a pass that ranks wallets, and members of
-- rings. Each statement of the pass reads them (ingest/rankings); nobody reads them after it.
CREATE TABLE IF NOT EXISTS two_way_wallets
(
    span LowCardinality(String),
    wallet FixedString(20) CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY wallet;
