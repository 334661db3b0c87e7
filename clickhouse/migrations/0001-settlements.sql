-- Raw settlements and what must be fed from them by 1:1 or max views (design.md 3, engine.md 8).
-- `ver` rises with every write attempt, `del` marks a tombstone; `del` is an ordinary column on purpose: rollups must still
-- see the keys that vanished.
CREATE TABLE IF NOT EXISTS settlements
(
    chain LowCardinality(String),
    block_number UInt64 CODEC(Delta, ZSTD(1)),
    block_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
    block_hash FixedString(32) CODEC(ZSTD(1)),
    tx_hash FixedString(32) CODEC(NONE),
    log_index UInt32 CODEC(ZSTD(1)),
    payer FixedString(20) CODEC(ZSTD(1)),
    payee FixedString(20) CODEC(ZSTD(1)),
    asset FixedString(20) CODEC(ZSTD(1)),
    asset_symbol LowCardinality(String),
    amount UInt256 CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) CODEC(ZSTD(1)),
    relayer FixedString(20) CODEC(ZSTD(1)),
    facilitator LowCardinality(String),
    method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6),
    seen UInt32 CODEC(ZSTD(1)),
    builder_facilitator LowCardinality(String),
    builder_apps LowCardinality(String),
    ver UInt64 CODEC(Delta, ZSTD(1)),
    del UInt8 CODEC(ZSTD(1)),
    INDEX ix_tx tx_hash TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(block_time)
ORDER BY (block_time, chain, block_number, log_index);

-- One row per party, ordered by wallet: this is what makes wallet pages index-fast. The wallet is hex text: sorted it costs
-- 3 bytes a row and analysts get primary-key access. ix_time lets a reorg find recent rows without a scan.
CREATE TABLE IF NOT EXISTS wallet_log
(
    wallet String CODEC(ZSTD(1)),
    role Enum8('payer' = 1, 'payee' = 2),
    chain LowCardinality(String),
    block_number UInt64 CODEC(Delta, ZSTD(1)),
    block_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
    block_hash FixedString(32) CODEC(ZSTD(1)),
    tx_hash FixedString(32) CODEC(NONE),
    log_index UInt32 CODEC(ZSTD(1)),
    counterparty FixedString(20) CODEC(ZSTD(1)),
    asset FixedString(20) CODEC(ZSTD(1)),
    asset_symbol LowCardinality(String),
    amount UInt256 CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) CODEC(ZSTD(1)),
    relayer FixedString(20) CODEC(ZSTD(1)),
    facilitator LowCardinality(String),
    method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6),
    seen UInt32 CODEC(ZSTD(1)),
    ver UInt64 CODEC(Delta, ZSTD(1)),
    del UInt8 CODEC(ZSTD(1)),
    INDEX ix_time block_time TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (wallet, block_time, chain, block_number, log_index, role);

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_log_mv TO wallet_log AS
SELECT
    concat('0x', lower(hex(if(role = 'payer', payer, payee)))) AS wallet,
    CAST(role, 'Enum8(\'payer\' = 1, \'payee\' = 2)') AS role,
    chain, block_number, block_time, block_hash, tx_hash, log_index,
    if(role = 'payer', payee, payer) AS counterparty,
    asset, asset_symbol, amount, amount_usd, relayer, facilitator, method, seen, ver, del
FROM settlements
ARRAY JOIN ['payer', 'payee'] AS role;

-- The newest `ver` of each day: a closed day is dirty when this is above what its rollup was computed from.
CREATE TABLE IF NOT EXISTS day_ver
(
    day Date,
    ver SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY day;

CREATE MATERIALIZED VIEW IF NOT EXISTS day_ver_mv TO day_ver AS
SELECT toDate(block_time) AS day, max(ver) AS ver FROM settlements GROUP BY day;
