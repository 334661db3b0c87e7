-- What wallets with too many rows to be read at once paid back to those that had paid them, in the 30 days before the pass of verdicts with the
-- same `gen` (ingest/verdicts). `chain` is empty for all chains together.
CREATE TABLE IF NOT EXISTS large_wallet_refunds
(
    wallet String CODEC(ZSTD(1)),
    chain LowCardinality(String),
    payers UInt64,
    settlements UInt64,
    usd Decimal(38, 6),
    judged_at DateTime('UTC'),
    gen UInt64
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, chain);
