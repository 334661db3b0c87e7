-- What regrades changed, so that an older revision of the catalogues can still be answered (docs/snapshots.md): each row as it was before a
-- pass wrote it anew, with the number of that pass. Written before the row is. The rows of a key whose `old_ver` has the same whole number of
-- steps of 100,000 are versions of one event; the lowest one is the oldest. A repeat writes a row once more, which replaces itself.
-- Kept a day longer than is promised.
CREATE TABLE IF NOT EXISTS settlement_history
(
    chain LowCardinality(String),
    block_number UInt64 CODEC(Delta, ZSTD(1)),
    block_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
    tx_hash FixedString(32) CODEC(NONE),
    log_index UInt32 CODEC(T64, ZSTD(1)),
    payer FixedString(20) CODEC(ZSTD(1)),
    payee FixedString(20) CODEC(ZSTD(1)),
    asset FixedString(20) CODEC(ZSTD(1)),
    asset_symbol LowCardinality(String),
    amount UInt256 CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) CODEC(T64, ZSTD(1)),
    relayer FixedString(20) CODEC(ZSTD(1)),
    facilitator LowCardinality(String),
    method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_deposit' = 7) CODEC(ZSTD(1)),
    seen UInt32 CODEC(ZSTD(1)),
    builder_facilitator LowCardinality(String),
    builder_apps LowCardinality(String),
    old_ver UInt64 CODEC(Delta, ZSTD(1)),
    old_del UInt8 CODEC(ZSTD(1)),
    pass UInt32 CODEC(Delta, ZSTD(1)),
    kept_at DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (block_time, chain, block_number, log_index, old_ver)
TTL kept_at + toIntervalDay(91)
SETTINGS index_granularity = 1024;

-- The same by wallet, as wallet_rows is of settlements.
CREATE TABLE IF NOT EXISTS wallet_history
(
    wallet String CODEC(ZSTD(3)),
    role Enum8('payer' = 1, 'payee' = 2),
    chain LowCardinality(String),
    block_number UInt64 CODEC(Delta, ZSTD(1)),
    block_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
    tx_hash FixedString(32) CODEC(NONE),
    log_index UInt32 CODEC(T64, ZSTD(1)),
    counterparty FixedString(20) CODEC(ZSTD(1)),
    asset FixedString(20) CODEC(ZSTD(1)),
    asset_symbol LowCardinality(String),
    amount UInt256 CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) CODEC(T64, ZSTD(1)),
    relayer FixedString(20) CODEC(ZSTD(1)),
    facilitator LowCardinality(String),
    method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_deposit' = 7) CODEC(ZSTD(1)),
    seen UInt32 CODEC(ZSTD(1)),
    old_ver UInt64 CODEC(Delta, ZSTD(1)),
    old_del UInt8 CODEC(ZSTD(1)),
    pass UInt32 CODEC(Delta, ZSTD(1)),
    kept_at DateTime('UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, block_time, chain, block_number, log_index, role, old_ver)
TTL kept_at + toIntervalDay(91)
SETTINGS index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_history_mv TO wallet_history AS
SELECT
    concat('0x', lower(hex(if(role = 'payer', payer, payee)))) AS wallet,
    CAST(role, 'Enum8(\'payer\' = 1, \'payee\' = 2)') AS role,
    chain, block_number, block_time, tx_hash, log_index,
    if(role = 'payer', payee, payer) AS counterparty,
    asset, asset_symbol, amount, amount_usd, relayer, facilitator, method, seen, old_ver, old_del, pass, kept_at
FROM settlement_history
ARRAY JOIN ['payer', 'payee'] AS role;

-- Whether a pass kept what it changed: those of releases before this one did not, and revisions before them cannot be answered.
ALTER TABLE regrade_progress ADD COLUMN IF NOT EXISTS kept UInt8 DEFAULT 0 AFTER finished;
