-- What profiles of wallets with too many rows to be read at once are judged by: the sums of their newest settlements by counterparty, as the
-- pass of verdicts with the same `gen` found them (ingest/verdicts). `chain` is empty for all chains together. Dollars are whole millionths;
-- `squared` is the sum of the squares of what each counterparty stands for.
CREATE TABLE IF NOT EXISTS large_wallets
(
    wallet String CODEC(ZSTD(1)),
    chain LowCardinality(String),
    role LowCardinality(String),
    settlements UInt64,
    counterparties UInt64,
    role_settlements UInt64,
    usd Int256,
    self_usd Int256,
    largest_usd Int256,
    squared Int256,
    reciprocal_usd Int256,
    judged_at DateTime('UTC'),
    gen UInt64
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, chain, role);
