-- The reorg window: which block the index believes stands at each height. Wrong rows are overwritten by a higher ver.
CREATE TABLE IF NOT EXISTS blocks
(
    chain LowCardinality(String),
    number UInt64,
    hash FixedString(32),
    time DateTime('UTC'),
    ver UInt64,
    written_at DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, number)
TTL written_at + INTERVAL 30 DAY;

-- Ranges of blocks whose rows are all acknowledged. `head` is the one contiguous range that follows the chain's tip
-- (range_end and end_hash move with it); `backfill` ranges are final. A row with del = 1 withdraws a range. `contracts` names the
-- set of contracts that was read: a token that is configured later makes a new set, and its history is read from the start.
CREATE TABLE IF NOT EXISTS checkpoints
(
    chain LowCardinality(String),
    contracts LowCardinality(String),
    kind Enum8('head' = 1, 'backfill' = 2),
    range_start UInt64,
    range_end UInt64,
    end_hash FixedString(32),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, contracts, kind, range_start);

-- What ingest last knew of each chain; the API serves freshness and telemetry from it.
CREATE TABLE IF NOT EXISTS chain_status
(
    chain LowCardinality(String),
    state LowCardinality(String),
    indexed_block UInt64,
    indexed_time DateTime('UTC'),
    head_block UInt64,
    head_time DateTime('UTC'),
    head_seen_at DateTime('UTC'),
    finalized_block UInt64,
    backfill_blocks_done UInt64,
    backfill_blocks_total UInt64,
    rows_per_second Float64,
    blocks_per_second Float64,
    rows_written UInt64,
    reorgs UInt64,
    deepest_reorg UInt64,
    retries UInt64,
    contradictions UInt64,
    dead_letters UInt64,
    last_error LowCardinality(String),
    last_written_at DateTime('UTC'),
    updated_at DateTime64(3, 'UTC'),
    ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY chain;

-- Logs that could not become a settlement: kept with their reason, never silently dropped.
CREATE TABLE IF NOT EXISTS dead_letters
(
    chain LowCardinality(String),
    block_number UInt64,
    block_hash FixedString(32),
    tx_hash FixedString(32),
    log_index UInt32,
    reason LowCardinality(String),
    raw_log String CODEC(ZSTD(3)),
    ver UInt64,
    del UInt8,
    written_at DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, block_number, log_index, reason);
