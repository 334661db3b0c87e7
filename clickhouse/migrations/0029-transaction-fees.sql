-- What each transaction with settlements cost the relayer that sent it, from its receipt (ingest/fees). Only final blocks
-- are read, so a reorg takes nothing back. The facts of its settlements are kept here as well: fees are added up by relayer, facilitator
-- and day, and grouping the settlements by transaction for that takes more memory than a query may use. The pass writes a row again when
-- they change, and removes one (del = 1) whose settlements are gone.
CREATE TABLE IF NOT EXISTS transaction_fees
(
    block_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
    chain LowCardinality(String),
    tx_hash FixedString(32) CODEC(NONE),
    block_number UInt64 CODEC(Delta, ZSTD(1)),
    relayer FixedString(20) CODEC(ZSTD(1)),
    facilitator LowCardinality(String),
    settlement_count UInt32 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    gas_used UInt64 CODEC(ZSTD(1)),
    gas_price UInt256 CODEC(ZSTD(1)),
    l1_fee UInt256 CODEC(ZSTD(1)),
    fee UInt256 CODEC(ZSTD(1)),
    ver UInt64 CODEC(Delta, ZSTD(1)),
    del UInt8 CODEC(ZSTD(1)),
    INDEX ix_tx_text concat('0x', lower(hex(tx_hash))) TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_relayer_text concat('0x', lower(hex(relayer))) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(block_time)
ORDER BY (block_time, chain, tx_hash)
-- A page reads one second.
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

-- Hours of a chain whose transactions all have their fees, with the count of inserts into the hour (hour_ver) from before its rows were
-- read: another insert opens the hour again.
CREATE TABLE IF NOT EXISTS fee_hours
(
    chain LowCardinality(String),
    hour DateTime('UTC'),
    writes UInt64,
    ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, hour);

-- Hours that are not in fee_hours as they are now, and the oldest of them; NULL where no receipts are read.
ALTER TABLE chain_status ADD COLUMN IF NOT EXISTS fee_hours_open Nullable(UInt64);
ALTER TABLE chain_status ADD COLUMN IF NOT EXISTS fee_oldest_open DateTime('UTC');
