-- When a transaction settled, by the first four bytes of its hash: with the time a reader finds its rows in `settlements`, whose
-- bloom filter has to be asked in every granule. A prefix may be that of two transactions, so the reader compares the whole hash.
-- A row only says where to look: one that a reorg took back stays, and its reader finds nothing there.
CREATE TABLE IF NOT EXISTS transaction_times
(
    prefix UInt32 CODEC(Delta, ZSTD(1)),
    block_time DateTime('UTC') CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (prefix, block_time)
SETTINGS index_granularity = 512;

CREATE MATERIALIZED VIEW IF NOT EXISTS transaction_times_mv TO transaction_times AS
SELECT reinterpretAsUInt32(substring(tx_hash, 1, 4)) AS prefix, block_time FROM settlements WHERE del = 0 GROUP BY prefix, block_time;

INSERT INTO transaction_times SELECT reinterpretAsUInt32(substring(tx_hash, 1, 4)) AS prefix, block_time FROM settlements WHERE del = 0 GROUP BY prefix, block_time;
