-- The rows of each wallet, in the form that a page of them is read fastest: instead of wallet_log, which was merged and read in granules
-- of 8,192 rows. A wallet has some hundred rows, so nearly all of what was read were those of others. Granules of 1,024, and a part is one
-- file (never wide): a page needs every column of a few granules, and a file for each column costs more than reading the granules.
-- The granule of a table cannot be altered, and a table that is exchanged cannot be exchanged again after a crash: so this is a new
-- table, which the view fills from before the copy on. `amount_rest` is what the atomic amount has above the millionths of dollars: nothing
-- for dollar tokens of six decimals, where the amount cost 6 of 140 bytes a settlement. The subtraction wraps, and so does the sum.
-- A wallet with new rows every day keeps some small parts; all that is older than a day is merged into one, at most once a day, up to the
-- engine's bound for merges (150 GB).
CREATE TABLE IF NOT EXISTS wallet_rows
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
    amount_rest UInt256 CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) CODEC(T64, ZSTD(1)),
    relayer FixedString(20) CODEC(ZSTD(1)),
    facilitator LowCardinality(String),
    method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_deposit' = 7) CODEC(ZSTD(1)),
    seen UInt32 CODEC(ZSTD(1)),
    ver UInt64 CODEC(Delta, ZSTD(1)),
    del UInt8 CODEC(ZSTD(1)),
    amount UInt256 ALIAS amount_rest + toUInt256(reinterpret(amount_usd, 'Int64')),
    INDEX ix_time block_time TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (wallet, block_time, chain, block_number, log_index, role)
SETTINGS index_granularity = 1024, min_bytes_for_wide_part = 1000000000000, min_age_to_force_merge_seconds = 86400;

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_rows_mv TO wallet_rows AS
SELECT
    concat('0x', lower(hex(if(role = 'payer', payer, payee)))) AS wallet,
    CAST(role, 'Enum8(\'payer\' = 1, \'payee\' = 2)') AS role,
    chain, block_number, block_time, tx_hash, log_index,
    if(role = 'payer', payee, payer) AS counterparty,
    asset, asset_symbol, amount - toUInt256(reinterpret(amount_usd, 'Int64')) AS amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del
FROM settlements
ARRAY JOIN ['payer', 'payee'] AS role;

-- Empty: for a repeat after the statement that drops it. Like the table that was made and altered before, which a replica's Keeper compares.
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
    method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_deposit' = 7) CODEC(ZSTD(1)),
    seen UInt32 CODEC(ZSTD(1)),
    ver UInt64 CODEC(Delta, ZSTD(1)),
    del UInt8 CODEC(ZSTD(1)),
    INDEX ix_time block_time TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (wallet, block_time, chain, block_number, log_index, role);

-- In sixteen ranges of the key, so that a statement of a large index stays within its time. The same versions of the same rows again
-- replace each other.
INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet < '0x1';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x1' AND wallet < '0x2';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x2' AND wallet < '0x3';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x3' AND wallet < '0x4';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x4' AND wallet < '0x5';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x5' AND wallet < '0x6';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x6' AND wallet < '0x7';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x7' AND wallet < '0x8';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x8' AND wallet < '0x9';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0x9' AND wallet < '0xa';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0xa' AND wallet < '0xb';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0xb' AND wallet < '0xc';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0xc' AND wallet < '0xd';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0xd' AND wallet < '0xe';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0xe' AND wallet < '0xf';

INSERT INTO wallet_rows (wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol, amount_rest, amount_usd, relayer, facilitator, method, seen, ver, del)
SELECT wallet, role, chain, block_number, block_time, tx_hash, log_index, counterparty, asset, asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')), amount_usd, relayer, facilitator, method, seen, ver, del
FROM wallet_log WHERE wallet >= '0xf';

DROP TABLE IF EXISTS wallet_log_mv;
DROP TABLE IF EXISTS wallet_log;
