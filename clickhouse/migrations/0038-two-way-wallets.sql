-- The wallets whose payments may not be organic: those that pay and are paid in the windows of a pass that ranks wallets, and members of
-- rings. Only the statements of that pass read them (ingest/rankings). It deletes them at its end, and those of a killed pass with them.
CREATE TABLE IF NOT EXISTS two_way_wallets
(
    span LowCardinality(String),
    wallet FixedString(20) CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY wallet;
