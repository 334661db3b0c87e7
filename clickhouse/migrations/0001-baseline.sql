-- Written by npm run gen from the declarations in clickhouse/tables, as long as it is the only migration.

CREATE TABLE IF NOT EXISTS retracted_keys
(
    `hour` DateTime('UTC'),
    `chain` LowCardinality(String),
    `payer` String,
    `payee` String,
    `relayer` String
)
ENGINE = ReplacingMergeTree
ORDER BY (hour, chain, payer, payee, relayer);

CREATE TABLE IF NOT EXISTS settlements
(
    `chain` LowCardinality(String),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `log_index` UInt32 CODEC(T64, ZSTD(1)),
    `payer` String CODEC(ZSTD(1)),
    `payee` String CODEC(ZSTD(1)),
    `asset` String CODEC(ZSTD(1)),
    `asset_symbol` LowCardinality(String),
    `amount` UInt256 CODEC(ZSTD(1)),
    `amount_usd` Decimal(18, 6) CODEC(T64, ZSTD(1)),
    `usd_known` UInt8 DEFAULT 1,
    `relayer` String CODEC(ZSTD(1)),
    `facilitator` LowCardinality(String),
    `method` Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_move' = 7) CODEC(ZSTD(1)),
    `seen` UInt32 CODEC(ZSTD(1)),
    `builder_facilitator` LowCardinality(String),
    `builder_apps` LowCardinality(String),
    `kind` LowCardinality(String) DEFAULT 'payment',
    `scheme` LowCardinality(String) DEFAULT 'unknown',
    `channel` String CODEC(ZSTD(1)),
    `contract` String CODEC(ZSTD(1)),
    `fee_amount` UInt256 CODEC(ZSTD(1)),
    `memo` String CODEC(ZSTD(3)),
    `ver` UInt64 CODEC(Delta, ZSTD(1)),
    `del` UInt8 CODEC(ZSTD(1)),
    `evidence_tier` LowCardinality(String) MATERIALIZED ['ungraded', 'not_x402', 'unproven', 'unproven', 'probable', 'probable', 'proven', 'not_x402'][toUInt8(method) + 1],
    `is_self_payment` Bool MATERIALIZED payer = payee,
    INDEX ix_tx tx_hash TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_payer_text if(length(payer) = 20, concat('0x', lower(hex(payer))), base58Encode(payer)) TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_payee_text if(length(payee) = 20, concat('0x', lower(hex(payee))), base58Encode(payee)) TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_tx_text if(length(tx_hash) = 32, concat('0x', lower(hex(tx_hash))), base58Encode(tx_hash)) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(block_time)
ORDER BY (block_time, chain, block_number, log_index)
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS hour_ver
(
    `hour` DateTime('UTC'),
    `ver` SimpleAggregateFunction(max, UInt64),
    `writes` SimpleAggregateFunction(sum, UInt64) MATERIALIZED 1
)
ENGINE = AggregatingMergeTree
ORDER BY hour;

CREATE TABLE IF NOT EXISTS settlement_changes
(
    `at` DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    `chain` LowCardinality(String),
    `hour` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `gone_block` UInt64 CODEC(Delta, ZSTD(1)),
    `gone_tx` String CODEC(ZSTD(1)),
    `gone_log` UInt32 CODEC(ZSTD(1)),
    `gone_payer` SimpleAggregateFunction(any, String) CODEC(ZSTD(1)),
    `gone_payee` SimpleAggregateFunction(any, String) CODEC(ZSTD(1)),
    `first_time` SimpleAggregateFunction(min, DateTime('UTC')) CODEC(Delta, ZSTD(1)),
    `last_time` SimpleAggregateFunction(max, DateTime('UTC')) CODEC(Delta, ZSTD(1)),
    `first_ver` SimpleAggregateFunction(min, UInt64) CODEC(Delta, ZSTD(1)),
    `last_ver` SimpleAggregateFunction(max, UInt64) CODEC(Delta, ZSTD(1)),
    `first_room` SimpleAggregateFunction(min, UInt64) CODEC(ZSTD(1)),
    `last_room` SimpleAggregateFunction(max, UInt64) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (at, chain, hour, gone_block, gone_tx, gone_log)
TTL toDateTime(at) + toIntervalDay(30)
SETTINGS index_granularity = 1024;

CREATE TABLE IF NOT EXISTS wallet_rows
(
    `wallet` String CODEC(ZSTD(3)),
    `role` Enum8('payer' = 1, 'payee' = 2),
    `chain` LowCardinality(String),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `log_index` UInt32 CODEC(T64, ZSTD(1)),
    `counterparty` String CODEC(ZSTD(1)),
    `asset` String CODEC(ZSTD(1)),
    `asset_symbol` LowCardinality(String),
    `amount_rest` UInt256 CODEC(ZSTD(1)),
    `amount_usd` Decimal(18, 6) CODEC(T64, ZSTD(1)),
    `usd_known` UInt8 DEFAULT 1,
    `relayer` String CODEC(ZSTD(1)),
    `facilitator` LowCardinality(String),
    `method` Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_move' = 7) CODEC(ZSTD(1)),
    `seen` UInt32 CODEC(ZSTD(1)),
    `kind` LowCardinality(String) DEFAULT 'payment',
    `scheme` LowCardinality(String) DEFAULT 'unknown',
    `channel` String CODEC(ZSTD(1)),
    `fee_amount` UInt256 CODEC(ZSTD(1)),
    `ver` UInt64 CODEC(Delta, ZSTD(1)),
    `del` UInt8 CODEC(ZSTD(1)),
    `amount` UInt256 ALIAS amount_rest + toUInt256(reinterpret(amount_usd, 'Int64')),
    INDEX ix_time block_time TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (wallet, block_time, chain, block_number, log_index, role)
SETTINGS index_granularity = 1024, min_bytes_for_wide_part = 1000000000000, min_age_to_force_merge_seconds = 86400;

CREATE TABLE IF NOT EXISTS channel_rows
(
    `chain` LowCardinality(String),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `log_index` UInt32 CODEC(T64, ZSTD(1)),
    `payer` String CODEC(ZSTD(1)),
    `payee` String CODEC(ZSTD(1)),
    `asset` String CODEC(ZSTD(1)),
    `asset_symbol` LowCardinality(String),
    `amount` UInt256 CODEC(ZSTD(1)),
    `amount_usd` Decimal(18, 6) CODEC(T64, ZSTD(1)),
    `usd_known` UInt8 DEFAULT 1,
    `relayer` String CODEC(ZSTD(1)),
    `facilitator` LowCardinality(String),
    `method` Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_move' = 7) CODEC(ZSTD(1)),
    `seen` UInt32 CODEC(ZSTD(1)),
    `kind` LowCardinality(String) DEFAULT 'payment',
    `scheme` LowCardinality(String) DEFAULT 'unknown',
    `channel` String CODEC(ZSTD(1)),
    `contract` String CODEC(ZSTD(1)),
    `fee_amount` UInt256 CODEC(ZSTD(1)),
    `ver` UInt64 CODEC(Delta, ZSTD(1)),
    `del` UInt8 CODEC(ZSTD(1)),
    INDEX ix_time block_time TYPE minmax GRANULARITY 1,
    INDEX ix_payer_text if(length(payer) = 20, concat('0x', lower(hex(payer))), base58Encode(payer)) TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_payee_text if(length(payee) = 20, concat('0x', lower(hex(payee))), base58Encode(payee)) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (channel, chain, block_time, block_number, log_index)
SETTINGS index_granularity = 1024;

CREATE TABLE IF NOT EXISTS transaction_fees
(
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `chain` LowCardinality(String),
    `tx_hash` String CODEC(LZ4),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `relayer` String CODEC(ZSTD(1)),
    `facilitator` LowCardinality(String),
    `settlement_count` UInt32 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `gas_used` UInt64 CODEC(ZSTD(1)),
    `gas_price` UInt256 CODEC(ZSTD(1)),
    `l1_fee` UInt256 CODEC(ZSTD(1)),
    `fee` UInt256 CODEC(ZSTD(1)),
    `ver` UInt64 CODEC(Delta, ZSTD(1)),
    `del` UInt8 CODEC(ZSTD(1)),
    INDEX ix_tx_text if(length(tx_hash) = 32, concat('0x', lower(hex(tx_hash))), base58Encode(tx_hash)) TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_relayer_text if(length(relayer) = 20, concat('0x', lower(hex(relayer))), base58Encode(relayer)) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(block_time)
ORDER BY (block_time, chain, tx_hash)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS dead_letters
(
    `chain` LowCardinality(String),
    `block_number` UInt64,
    `block_hash` FixedString(32),
    `tx_hash` String,
    `log_index` UInt32,
    `reason` LowCardinality(String),
    `raw_log` String CODEC(ZSTD(3)),
    `ver` UInt64,
    `del` UInt8,
    `written_at` DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, block_number, log_index, reason);

CREATE TABLE IF NOT EXISTS agent_events
(
    `chain` LowCardinality(String),
    `agent_id` UInt256,
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `log_index` UInt32,
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `block_hash` FixedString(32) CODEC(ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `kind` Enum8('registered' = 1, 'uri_updated' = 2, 'metadata_set' = 3, 'wallet_set' = 4, 'transferred' = 5),
    `account` String,
    `text` String CODEC(ZSTD(3)),
    `data` String CODEC(ZSTD(3)),
    `ver` UInt64 CODEC(Delta, ZSTD(1)),
    `del` UInt8,
    INDEX ix_block block_number TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id, block_number, log_index)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS attestations
(
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `chain` LowCardinality(String),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `log_index` UInt32,
    `block_hash` FixedString(32) CODEC(ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `kind` Enum8('feedback' = 1, 'response' = 2, 'revocation' = 3, 'validation_request' = 4, 'validation_response' = 5),
    `agent_id` UInt256,
    `author` String CODEC(ZSTD(1)),
    `client` String CODEC(ZSTD(1)),
    `feedback_index` UInt64,
    `value` Int128,
    `value_decimals` UInt8,
    `tag1` String CODEC(ZSTD(1)),
    `tag2` String CODEC(ZSTD(1)),
    `endpoint` String CODEC(ZSTD(1)),
    `uri` String CODEC(ZSTD(3)),
    `file_hash` FixedString(32) CODEC(ZSTD(1)),
    `request_hash` FixedString(32) CODEC(ZSTD(1)),
    `ver` UInt64 CODEC(Delta, ZSTD(1)),
    `del` UInt8,
    INDEX ix_kind kind TYPE set(8) GRANULARITY 1,
    INDEX ix_client client TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_tags [tag1, tag2] TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(block_time)
ORDER BY (block_time, chain, block_number, log_index)
SETTINGS index_granularity = 512;

CREATE TABLE IF NOT EXISTS agent_attestations
(
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `chain` LowCardinality(String),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `log_index` UInt32,
    `block_hash` FixedString(32) CODEC(ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `kind` Enum8('feedback' = 1, 'response' = 2, 'revocation' = 3, 'validation_request' = 4, 'validation_response' = 5),
    `agent_id` UInt256,
    `author` String CODEC(ZSTD(1)),
    `client` String CODEC(ZSTD(1)),
    `feedback_index` UInt64,
    `value` Int128,
    `value_decimals` UInt8,
    `tag1` String CODEC(ZSTD(1)),
    `tag2` String CODEC(ZSTD(1)),
    `endpoint` String CODEC(ZSTD(1)),
    `uri` String CODEC(ZSTD(3)),
    `file_hash` FixedString(32) CODEC(ZSTD(1)),
    `request_hash` FixedString(32) CODEC(ZSTD(1)),
    `ver` UInt64 CODEC(Delta, ZSTD(1)),
    `del` UInt8,
    INDEX ix_block block_number TYPE minmax GRANULARITY 1,
    INDEX ix_kind kind TYPE set(8) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(block_time)
ORDER BY (chain, agent_id, block_time, block_number, log_index)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS feedback_revocations
(
    `chain` LowCardinality(String),
    `agent_id` UInt256,
    `client` String,
    `feedback_index` UInt64,
    `block_time` DateTime('UTC'),
    `block_number` UInt64,
    `log_index` UInt32,
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id, client, feedback_index, block_time, block_number, log_index)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS feedback_files
(
    `chain` LowCardinality(String),
    `block_number` UInt64,
    `log_index` UInt32,
    `agent_id` UInt256,
    `client` String,
    `uri` String CODEC(ZSTD(3)),
    `file_hash` FixedString(32),
    `status` Enum8('new' = 0, 'good' = 1, 'failed' = 2),
    `problem` LowCardinality(String),
    `failures` UInt16,
    `next_try_at` DateTime('UTC'),
    `hash_matches` UInt8,
    `proof_chain` LowCardinality(String),
    `proof_tx` String,
    `proof_from` String,
    `proof_to` String,
    `comment` String CODEC(ZSTD(3)),
    `comment_rule` UInt8,
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, block_number, log_index)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS agent_feedback_files
(
    `chain` LowCardinality(String),
    `block_number` UInt64,
    `log_index` UInt32,
    `agent_id` UInt256,
    `client` String,
    `uri` String CODEC(ZSTD(3)),
    `file_hash` FixedString(32),
    `status` Enum8('new' = 0, 'good' = 1, 'failed' = 2),
    `problem` LowCardinality(String),
    `failures` UInt16,
    `next_try_at` DateTime('UTC'),
    `hash_matches` UInt8,
    `proof_chain` LowCardinality(String),
    `proof_tx` String,
    `proof_from` String,
    `proof_to` String,
    `comment` String CODEC(ZSTD(3)),
    `comment_rule` UInt8,
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id, block_number, log_index)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS agent_changes
(
    `chain` LowCardinality(String),
    `agent_id` UInt256,
    `changes` SimpleAggregateFunction(sum, UInt64),
    `changed_at` SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (chain, agent_id);

CREATE TABLE IF NOT EXISTS wallet_seen
(
    `wallet` String,
    `last_time` SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY wallet
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS transaction_times
(
    `prefix` UInt32 CODEC(Delta, ZSTD(1)),
    `block_time` DateTime('UTC') CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (prefix, block_time)
SETTINGS index_granularity = 512, min_age_to_force_merge_seconds = 86400;

CREATE TABLE IF NOT EXISTS fee_hours
(
    `chain` LowCardinality(String),
    `hour` DateTime('UTC'),
    `writes` UInt64,
    `ver` UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, hour);

CREATE TABLE IF NOT EXISTS rollup_state
(
    `day` Date,
    `hour` Int8,
    `ver` UInt64,
    `gen` UInt64,
    `writes` UInt64 DEFAULT 0,
    `figures` UInt8 DEFAULT 0
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (day, hour);

CREATE TABLE IF NOT EXISTS payee_day
(
    `payee` String CODEC(ZSTD(1)),
    `day` Date,
    `hour` Int8,
    `chain` LowCardinality(String),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `self_count` UInt64 CODEC(ZSTD(1)),
    `self_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `proven_count` UInt64 CODEC(ZSTD(1)),
    `proven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `payers` AggregateFunction(uniqCombined64(12), String) CODEC(ZSTD(1)),
    `first_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `last_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `gen` UInt64 CODEC(ZSTD(1)),
    `probable_count` UInt64 CODEC(ZSTD(1)),
    `probable_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `unproven_count` UInt64 CODEC(ZSTD(1)),
    `unproven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `not_x402_count` UInt64 CODEC(ZSTD(1)),
    `not_x402_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `assets` Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (payee, day, hour, chain)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 86400, min_bytes_for_wide_part = 1000000000000;

CREATE TABLE IF NOT EXISTS payer_day
(
    `payer` String CODEC(ZSTD(1)),
    `day` Date,
    `hour` Int8,
    `chain` LowCardinality(String),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `self_count` UInt64 CODEC(ZSTD(1)),
    `self_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `proven_count` UInt64 CODEC(ZSTD(1)),
    `proven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `payees` AggregateFunction(uniqCombined64(12), String) CODEC(ZSTD(1)),
    `first_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `last_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `gen` UInt64 CODEC(ZSTD(1)),
    `probable_count` UInt64 CODEC(ZSTD(1)),
    `probable_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `unproven_count` UInt64 CODEC(ZSTD(1)),
    `unproven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `not_x402_count` UInt64 CODEC(ZSTD(1)),
    `not_x402_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `assets` Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (payer, day, hour, chain)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 86400;

CREATE TABLE IF NOT EXISTS relayer_day
(
    `chain` LowCardinality(String),
    `relayer` String CODEC(ZSTD(1)),
    `day` Date,
    `hour` Int8,
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `payers` AggregateFunction(uniqCombined64(14), String) CODEC(ZSTD(1)),
    `payees` AggregateFunction(uniqCombined64(14), String) CODEC(ZSTD(1)),
    `first_time` DateTime('UTC') CODEC(ZSTD(1)),
    `last_time` DateTime('UTC') CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (chain, relayer, day, hour)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS chain_hour
(
    `chain` LowCardinality(String),
    `hour` DateTime('UTC'),
    `facilitator` LowCardinality(String),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(Delta, ZSTD(1)),
    `self_count` UInt64 CODEC(ZSTD(1)),
    `self_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `proven_count` UInt64 CODEC(ZSTD(1)),
    `proven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `probable_count` UInt64 CODEC(ZSTD(1)),
    `probable_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `unproven_count` UInt64 CODEC(ZSTD(1)),
    `unproven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `not_x402_count` UInt64 CODEC(ZSTD(1)),
    `not_x402_usd` Decimal(38, 6) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (chain, hour, facilitator);

CREATE TABLE IF NOT EXISTS pair_day
(
    `payer` String CODEC(ZSTD(1)),
    `payee` String CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = 1048576, max_compress_block_size = 1048576),
    `day` Date CODEC(ZSTD(1)),
    `hour` Int8 CODEC(ZSTD(1)),
    `chain` LowCardinality(String) CODEC(ZSTD(1)),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `proven_count` UInt64 CODEC(ZSTD(1)),
    `proven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `other_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `dust_count` UInt64 CODEC(ZSTD(1)),
    `dust_proven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `dust_other_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `first_second` UInt32 CODEC(T64, ZSTD(1)),
    `span` UInt32 CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(ZSTD(1)),
    INDEX ix_payer_text if(length(payer) = 20, concat('0x', lower(hex(payer))), base58Encode(payer)) TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(gen)
PARTITION BY toYYYYMM(day)
ORDER BY (day, hour, payer, payee, chain)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS pair_day_by_payee
(
    `payee` String CODEC(ZSTD(1)),
    `payer` String CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = 262144, max_compress_block_size = 262144),
    `day` Date CODEC(ZSTD(1)),
    `hour` Int8 CODEC(ZSTD(1)),
    `chain` LowCardinality(String) CODEC(ZSTD(1)),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `proven_count` UInt64 CODEC(ZSTD(1)),
    `proven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `other_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `dust_count` UInt64 CODEC(ZSTD(1)),
    `dust_proven_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `dust_other_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `first_second` UInt32 CODEC(T64, ZSTD(1)),
    `span` UInt32 CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
PARTITION BY toYYYYMM(day)
ORDER BY (payee, payer, day, hour, chain)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS settlement_history
(
    `chain` LowCardinality(String),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `log_index` UInt32 CODEC(T64, ZSTD(1)),
    `payer` String CODEC(ZSTD(1)),
    `payee` String CODEC(ZSTD(1)),
    `asset` String CODEC(ZSTD(1)),
    `asset_symbol` LowCardinality(String),
    `amount` UInt256 CODEC(ZSTD(1)),
    `amount_usd` Decimal(18, 6) CODEC(T64, ZSTD(1)),
    `usd_known` UInt8 DEFAULT 1,
    `relayer` String CODEC(ZSTD(1)),
    `facilitator` LowCardinality(String),
    `method` Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_move' = 7) CODEC(ZSTD(1)),
    `seen` UInt32 CODEC(ZSTD(1)),
    `builder_facilitator` LowCardinality(String),
    `builder_apps` LowCardinality(String),
    `kind` LowCardinality(String) DEFAULT 'payment',
    `scheme` LowCardinality(String) DEFAULT 'unknown',
    `channel` String CODEC(ZSTD(1)),
    `contract` String CODEC(ZSTD(1)),
    `fee_amount` UInt256 CODEC(ZSTD(1)),
    `memo` String CODEC(ZSTD(3)),
    `old_ver` UInt64 CODEC(Delta, ZSTD(1)),
    `old_del` UInt8 CODEC(ZSTD(1)),
    `pass` UInt32 CODEC(Delta, ZSTD(1)),
    `kept_at` DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (block_time, chain, block_number, log_index, old_ver)
TTL kept_at + toIntervalDay(91)
SETTINGS index_granularity = 1024;

CREATE TABLE IF NOT EXISTS wallet_history
(
    `wallet` String CODEC(ZSTD(3)),
    `role` Enum8('payer' = 1, 'payee' = 2),
    `chain` LowCardinality(String),
    `block_number` UInt64 CODEC(Delta, ZSTD(1)),
    `block_time` DateTime('UTC') CODEC(Delta, ZSTD(1)),
    `tx_hash` String CODEC(LZ4),
    `log_index` UInt32 CODEC(T64, ZSTD(1)),
    `counterparty` String CODEC(ZSTD(1)),
    `asset` String CODEC(ZSTD(1)),
    `asset_symbol` LowCardinality(String),
    `amount` UInt256 CODEC(ZSTD(1)),
    `amount_usd` Decimal(18, 6) CODEC(T64, ZSTD(1)),
    `usd_known` UInt8 DEFAULT 1,
    `relayer` String CODEC(ZSTD(1)),
    `facilitator` LowCardinality(String),
    `method` Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_move' = 7) CODEC(ZSTD(1)),
    `seen` UInt32 CODEC(ZSTD(1)),
    `kind` LowCardinality(String) DEFAULT 'payment',
    `scheme` LowCardinality(String) DEFAULT 'unknown',
    `channel` String CODEC(ZSTD(1)),
    `fee_amount` UInt256 CODEC(ZSTD(1)),
    `old_ver` UInt64 CODEC(Delta, ZSTD(1)),
    `old_del` UInt8 CODEC(ZSTD(1)),
    `pass` UInt32 CODEC(Delta, ZSTD(1)),
    `kept_at` DateTime('UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, block_time, chain, block_number, log_index, role, old_ver)
TTL kept_at + toIntervalDay(91)
SETTINGS index_granularity = 1024;

CREATE TABLE IF NOT EXISTS plain_settlements
(
    `chain` LowCardinality(String) CODEC(LZ4),
    `block_number` UInt64 CODEC(Delta, LZ4),
    `block_time` DateTime('UTC') CODEC(Delta, LZ4),
    `tx_hash` String CODEC(LZ4),
    `log_index` UInt32 CODEC(LZ4),
    `payer` String CODEC(LZ4),
    `payee` String CODEC(LZ4),
    `asset` LowCardinality(String) CODEC(LZ4),
    `asset_symbol` LowCardinality(String) CODEC(LZ4),
    `amount` UInt256 CODEC(ZSTD(1)),
    `amount_usd` Nullable(Decimal(18, 6)) CODEC(LZ4),
    `relayer` LowCardinality(String) CODEC(LZ4),
    `facilitator` LowCardinality(String) CODEC(LZ4),
    `method_code` UInt8 CODEC(LZ4),
    `evidence_tier` LowCardinality(String) CODEC(LZ4),
    `is_self_payment` Bool CODEC(LZ4),
    `seen` UInt32 CODEC(LZ4),
    `builder_facilitator` LowCardinality(String) CODEC(LZ4),
    `builder_apps` LowCardinality(String) CODEC(LZ4),
    `kind` LowCardinality(String) CODEC(LZ4),
    `scheme` LowCardinality(String) CODEC(LZ4),
    `channel` String CODEC(LZ4),
    `fee_amount` UInt256 CODEC(LZ4),
    `memo` String CODEC(LZ4),
    `payer_id` UInt64 CODEC(LZ4),
    `payee_id` UInt64 CODEC(LZ4),
    `gen` UInt64 CODEC(Delta, LZ4),
    INDEX ix_asset asset TYPE set(100) GRANULARITY 1,
    INDEX ix_payer payer TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_payee payee TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_tx if(length(tx_hash) = 32, concat('0x', lower(hex(tx_hash))), base58Encode(tx_hash)) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (block_time, chain, block_number, log_index)
SETTINGS min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS plain_months
(
    `month` Date,
    `until` DateTime('UTC'),
    `writes` UInt64,
    `gen` UInt64,
    `id_key` UInt64
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY month;

CREATE TABLE IF NOT EXISTS wallet_id_keys
(
    `made` UInt64,
    `low` UInt64,
    `high` UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (made, low, high);

CREATE TABLE IF NOT EXISTS relayer_totals
(
    `chain` LowCardinality(String),
    `relayer` String CODEC(ZSTD(1)),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `payers` AggregateFunction(uniqCombined64(14), String) CODEC(ZSTD(1)),
    `payees` AggregateFunction(uniqCombined64(14), String) CODEC(ZSTD(1)),
    `first_time` DateTime('UTC') CODEC(ZSTD(1)),
    `last_time` DateTime('UTC') CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (chain, relayer)
SETTINGS index_granularity = 8;

CREATE TABLE IF NOT EXISTS relayer_total_passes
(
    `gen` UInt64,
    `until` DateTime('UTC'),
    `basis` String,
    `finished_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY gen
TTL finished_at + toIntervalDay(90);

CREATE TABLE IF NOT EXISTS wallet_rings
(
    `wallet` String CODEC(ZSTD(1)),
    `length` UInt8,
    `members` Array(String) CODEC(ZSTD(1)),
    `bottleneck_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `ring_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `window_start` DateTime('UTC') CODEC(ZSTD(1)),
    `window_end` DateTime('UTC') CODEC(ZSTD(1)),
    `method_version` LowCardinality(String),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, length, members);

CREATE TABLE IF NOT EXISTS ring_passes
(
    `gen` UInt64,
    `window_start` DateTime('UTC'),
    `window_end` DateTime('UTC'),
    `method_version` LowCardinality(String),
    `wallets` UInt64,
    `edges` UInt64,
    `rings` UInt64,
    `capped` Array(LowCardinality(String)),
    `finished_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY gen
TTL finished_at + toIntervalDay(90);

CREATE TABLE IF NOT EXISTS wallet_verdicts
(
    `wallet` String CODEC(ZSTD(1)),
    `role` LowCardinality(String),
    `verdict` LowCardinality(String),
    `reasons` Array(LowCardinality(String)),
    `rings` Array(Array(String)) CODEC(ZSTD(1)),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `self_share` Int16 CODEC(ZSTD(1)),
    `concentration` Int16 CODEC(ZSTD(1)),
    `largest_share` Int16 CODEC(ZSTD(1)),
    `reciprocal_share` Int16 CODEC(ZSTD(1)),
    `judged_at` DateTime('UTC') CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, role)
SETTINGS index_granularity = 1024;

CREATE TABLE IF NOT EXISTS verdict_passes
(
    `gen` UInt64,
    `basis` String,
    `method_version` LowCardinality(String),
    `verdicts` UInt64,
    `judged_at` DateTime('UTC'),
    `finished_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY gen
TTL finished_at + toIntervalDay(90);

CREATE TABLE IF NOT EXISTS large_wallets
(
    `wallet` String CODEC(ZSTD(1)),
    `chain` LowCardinality(String),
    `role` LowCardinality(String),
    `settlements` UInt64,
    `counterparties` UInt64,
    `role_settlements` UInt64,
    `usd` Int256,
    `self_usd` Int256,
    `largest_usd` Int256,
    `squared` Int256,
    `reciprocal_usd` Int256,
    `judged_at` DateTime('UTC'),
    `gen` UInt64
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, chain, role);

CREATE TABLE IF NOT EXISTS large_wallet_refunds
(
    `wallet` String CODEC(ZSTD(1)),
    `chain` LowCardinality(String),
    `payers` UInt64,
    `settlements` UInt64,
    `usd` Decimal(38, 6),
    `judged_at` DateTime('UTC'),
    `gen` UInt64
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (wallet, chain);

CREATE TABLE IF NOT EXISTS ranked_wallets
(
    `span` LowCardinality(String),
    `role` LowCardinality(String),
    `chain` LowCardinality(String),
    `wallet` String CODEC(ZSTD(1)),
    `organic_usd0` Decimal(38, 6) CODEC(ZSTD(1)),
    `organic_usd1` Decimal(38, 6) CODEC(ZSTD(1)),
    `organic_usd2` Decimal(38, 6) CODEC(ZSTD(1)),
    `organic_proven0` Decimal(38, 6) CODEC(ZSTD(1)),
    `organic_proven1` Decimal(38, 6) CODEC(ZSTD(1)),
    `organic_count0` UInt64 CODEC(ZSTD(1)),
    `organic_count1` UInt64 CODEC(ZSTD(1)),
    `parties0` UInt64 CODEC(ZSTD(1)),
    `parties1` UInt64 CODEC(ZSTD(1)),
    `other_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `other_count` UInt64 CODEC(ZSTD(1)),
    `verdict` LowCardinality(String),
    `excluded` Array(String) CODEC(ZSTD(1)),
    `lost_days` Array(UInt16) CODEC(ZSTD(1)),
    `lost_count` Array(UInt64) CODEC(ZSTD(1)),
    `lost_usd` Array(Decimal(38, 6)) CODEC(ZSTD(1)),
    `lost_proven` Array(Decimal(38, 6)) CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (role, chain, wallet)
SETTINGS index_granularity = 512;

CREATE TABLE IF NOT EXISTS two_way_wallets
(
    `span` LowCardinality(String),
    `wallet` String CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY wallet;

CREATE TABLE IF NOT EXISTS ranked_facilitators
(
    `span` LowCardinality(String),
    `chain` LowCardinality(String),
    `facilitator` String,
    `organic_usd0` Decimal(38, 6),
    `organic_usd1` Decimal(38, 6),
    `organic_usd2` Decimal(38, 6),
    `organic_proven0` Decimal(38, 6),
    `organic_proven1` Decimal(38, 6),
    `organic_count0` UInt64,
    `organic_count1` UInt64,
    `parties0` UInt64,
    `parties1` UInt64,
    `other_usd` Decimal(38, 6),
    `other_count` UInt64,
    `line_at` Array(UInt32),
    `line_count` Array(UInt64),
    `line_usd` Array(Decimal(38, 6)),
    `line_proven` Array(Decimal(38, 6)),
    `gen` UInt64
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (chain, facilitator);

CREATE TABLE IF NOT EXISTS ranking_passes
(
    `gen` UInt64,
    `span` LowCardinality(String),
    `ranked_at` DateTime('UTC'),
    `wallets` UInt64,
    `took_ms` UInt64,
    `finished_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (span, gen)
TTL finished_at + toIntervalDay(30);

CREATE TABLE IF NOT EXISTS largest_pairs
(
    `days` UInt16,
    `chain` LowCardinality(String),
    `rank` UInt32 CODEC(Delta, ZSTD(1)),
    `payer` String CODEC(ZSTD(1)),
    `payee` String CODEC(ZSTD(1)),
    `settlement_count` UInt64 CODEC(ZSTD(1)),
    `settled_usd` Decimal(38, 6) CODEC(ZSTD(1)),
    `first_time` DateTime('UTC') CODEC(ZSTD(1)),
    `last_time` DateTime('UTC') CODEC(ZSTD(1)),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (chain, rank)
SETTINGS index_granularity = 512;

CREATE TABLE IF NOT EXISTS largest_pair_passes
(
    `gen` UInt64,
    `days` UInt16,
    `until` DateTime('UTC'),
    `basis` String,
    `took_ms` UInt64,
    `finished_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (days, gen)
TTL finished_at + toIntervalDay(30);

CREATE TABLE IF NOT EXISTS proposed_relayers
(
    `chain` LowCardinality(String),
    `address` String,
    `score` Float64,
    `settlement_count` UInt64,
    `relayed_count` UInt64,
    `payer_count` UInt64,
    `payer_spread` Float64,
    `shared_payer_count` UInt64,
    `payee_count` UInt64,
    `shared_payee_count` UInt64,
    `shared_settlement_count` UInt64,
    `shared_with` Array(LowCardinality(String)),
    `supported_by` Array(LowCardinality(String)),
    `funded_with` LowCardinality(String),
    `first_seen` DateTime('UTC'),
    `last_seen` DateTime('UTC'),
    `gen` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (chain, address);

CREATE TABLE IF NOT EXISTS proposal_passes
(
    `gen` UInt64,
    `proposed_at` DateTime('UTC'),
    `looked_at` UInt64,
    `took_ms` UInt64,
    `finished_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY gen
TTL finished_at + toIntervalDay(90);

CREATE TABLE IF NOT EXISTS blocks
(
    `chain` LowCardinality(String),
    `number` UInt64,
    `hash` FixedString(32),
    `time` DateTime('UTC'),
    `ver` UInt64,
    `written_at` DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, number)
TTL written_at + toIntervalDay(30);

CREATE TABLE IF NOT EXISTS checkpoints
(
    `chain` LowCardinality(String),
    `contracts` LowCardinality(String),
    `is_partial` UInt8,
    `kind` Enum8('head' = 1, 'backfill' = 2),
    `range_start` UInt64,
    `range_end` UInt64,
    `end_hash` FixedString(32),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, contracts, kind, range_start);

CREATE TABLE IF NOT EXISTS chain_status
(
    `chain` LowCardinality(String),
    `state` LowCardinality(String),
    `indexed_block` UInt64,
    `indexed_time` DateTime('UTC'),
    `head_block` UInt64,
    `head_time` DateTime('UTC'),
    `head_seen_at` DateTime('UTC'),
    `finalized_block` UInt64,
    `backfill_blocks_done` UInt64,
    `backfill_blocks_total` UInt64,
    `rows_per_second` Float64,
    `blocks_per_second` Float64,
    `rows_written` UInt64,
    `reorgs` UInt64,
    `deepest_reorg` UInt64,
    `retries` UInt64,
    `contradictions` UInt64,
    `dead_letters` UInt64,
    `last_error` LowCardinality(String),
    `last_written_at` DateTime('UTC'),
    `fee_hours_open` Nullable(UInt64),
    `fee_oldest_open` DateTime('UTC'),
    `backfill_source` LowCardinality(String),
    `updated_at` DateTime64(3, 'UTC'),
    `ver` UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY chain;

CREATE TABLE IF NOT EXISTS fences
(
    `scope` String,
    `token` UInt64,
    `owner` String,
    `ended` UInt8,
    `beat_at` DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(beat_at)
ORDER BY (scope, token, owner);

CREATE TABLE IF NOT EXISTS facilitator_relayers
(
    `chain` LowCardinality(String),
    `address` String,
    `facilitator` LowCardinality(String),
    `facilitator_name` LowCardinality(String),
    `first_seen` Date,
    `source` LowCardinality(String),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);

CREATE TABLE IF NOT EXISTS catalogued_payees
(
    `chain` LowCardinality(String),
    `address` String,
    `name` String,
    `resource` String,
    `source` LowCardinality(String),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);

CREATE TABLE IF NOT EXISTS builder_codes
(
    `code` LowCardinality(String),
    `facilitator` LowCardinality(String),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY code;

CREATE TABLE IF NOT EXISTS supported_signers
(
    `facilitator` LowCardinality(String),
    `chain` LowCardinality(String),
    `address` String,
    `first_seen` SimpleAggregateFunction(min, Date)
)
ENGINE = AggregatingMergeTree
ORDER BY (facilitator, chain, address);

CREATE TABLE IF NOT EXISTS relayer_decisions
(
    `chain` LowCardinality(String),
    `address` String,
    `decision` LowCardinality(String),
    `score` Float64,
    `first_seen` Date,
    `decided_at` DateTime('UTC'),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);

CREATE TABLE IF NOT EXISTS relayer_accounts
(
    `chain` LowCardinality(String),
    `address` String,
    `nonce` UInt64,
    `gas_balance` UInt256,
    `enriched_at` DateTime('UTC'),
    `ver` UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);

CREATE TABLE IF NOT EXISTS relayer_funders
(
    `chain` LowCardinality(String),
    `address` String,
    `funder` String,
    `ver` UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);

CREATE TABLE IF NOT EXISTS catalogue_passes
(
    `pass` UInt32,
    `owner` String,
    `created_at` DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY (pass, owner);

CREATE TABLE IF NOT EXISTS catalogue_changes
(
    `pass` UInt32,
    `kind` Enum8('relayer' = 1, 'payee' = 2, 'code' = 3),
    `chain` LowCardinality(String),
    `address` String,
    `code` String,
    `created_at` DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
ORDER BY (pass, kind, chain, address, code);

CREATE TABLE IF NOT EXISTS regrade_progress
(
    `pass` UInt32,
    `done_from` DateTime('UTC'),
    `rows_looked_at` UInt64,
    `rows_total` UInt64,
    `rows_changed` UInt64,
    `finished` UInt8,
    `kept` UInt8 DEFAULT 0,
    `ver` UInt64,
    `updated_at` DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY pass;

CREATE TABLE IF NOT EXISTS agent_cards
(
    `chain` LowCardinality(String),
    `agent_id` UInt256,
    `uri` String CODEC(ZSTD(3)),
    `status` Enum8('good' = 1, 'failed' = 2),
    `problem` LowCardinality(String),
    `failures` UInt16,
    `tried_at` DateTime('UTC'),
    `next_try_at` DateTime('UTC'),
    `good_uri` String CODEC(ZSTD(3)),
    `good_at` DateTime('UTC'),
    `name` String CODEC(ZSTD(1)),
    `description` String CODEC(ZSTD(3)),
    `image` String CODEC(ZSTD(3)),
    `services` String CODEC(ZSTD(3)),
    `supported_trust` Array(LowCardinality(String)),
    `x402_support` UInt8,
    `active` UInt8,
    `capabilities` Array(LowCardinality(String)),
    `rule_version` UInt16,
    `claims_agent` UInt8,
    `domain` String CODEC(ZSTD(1)),
    `domain_proof` Enum8('unchecked' = 0, 'proven' = 1, 'refuted' = 2, 'unreachable' = 3),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS agents
(
    `chain` LowCardinality(String),
    `agent_id` UInt256,
    `owner` String CODEC(ZSTD(1)),
    `wallet` String CODEC(ZSTD(1)),
    `agent_uri` String CODEC(ZSTD(3)),
    `registered_at` DateTime('UTC'),
    `registered_block` UInt64,
    `registered_tx` String CODEC(LZ4),
    `updated_at` DateTime('UTC'),
    `name` String CODEC(ZSTD(1)),
    `description` String CODEC(ZSTD(3)),
    `image` String CODEC(ZSTD(3)),
    `services` String CODEC(ZSTD(3)),
    `supported_trust` Array(LowCardinality(String)),
    `x402_support` UInt8,
    `active` UInt8,
    `capabilities` Array(LowCardinality(String)),
    `card_status` Enum8('none' = 0, 'good' = 1, 'failed' = 2),
    `card_problem` LowCardinality(String),
    `card_at` DateTime('UTC'),
    `card_due_at` DateTime('UTC'),
    `domain` String CODEC(ZSTD(1)),
    `domain_proof` Enum8('unchecked' = 0, 'proven' = 1, 'refuted' = 2, 'unreachable' = 3),
    `feedback_count` UInt64,
    `distinct_clients` UInt64,
    `score` Nullable(Decimal(76, 18)),
    `last_feedback_at` DateTime('UTC'),
    `derived_changes` UInt64,
    `ver` UInt64,
    `del` UInt8,
    `rating_mean` Nullable(Decimal(76, 18)),
    `rating_count` UInt64,
    `rating_clients` UInt64,
    `paid_score` Nullable(Decimal(76, 18)),
    `paid_count` UInt64,
    `paid_clients` UInt64,
    `tag_scores` String CODEC(ZSTD(3)),
    INDEX ix_owner owner TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_capability capabilities TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_words replaceRegexpAll(replaceRegexpAll(lowerUTF8(concat(name, ' ', description)), '[^\\p{L}\\p{M}\\p{N}]+', ' '), '[\\p{Han}\\p{Hiragana}\\p{Katakana}]', ' \\0 ') TYPE text(tokenizer = 'splitByNonAlpha') GRANULARITY 100000000
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS agents_due
(
    `batch` UInt64,
    `chain` LowCardinality(String),
    `agent_id` UInt256,
    `changes` UInt64,
    `written_at` DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (batch, chain, agent_id)
TTL written_at + toIntervalHour(1);

CREATE TABLE IF NOT EXISTS agent_wallets
(
    `wallet` String,
    `chain` LowCardinality(String),
    `agent_id` UInt256
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, chain, agent_id)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS agent_claims
(
    `wallet` String,
    `chain` LowCardinality(String),
    `agent_id` UInt256
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, chain, agent_id)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS endpoint_offers
(
    `resource` String CODEC(ZSTD(1)),
    `method` LowCardinality(String),
    `source` LowCardinality(String),
    `network` LowCardinality(String),
    `scheme` LowCardinality(String),
    `asset` String CODEC(ZSTD(1)),
    `pay_to` String CODEC(ZSTD(1)),
    `chain` LowCardinality(String),
    `amount` Nullable(UInt256),
    `price_usd` Nullable(Decimal(38, 6)),
    `item_pay_tos` Array(String),
    `unobserved` LowCardinality(String),
    `max_timeout_seconds` UInt32,
    `service_name` String CODEC(ZSTD(1)),
    `description` String CODEC(ZSTD(3)),
    `mime_type` LowCardinality(String),
    `tags` Array(LowCardinality(String)),
    `capabilities` Array(LowCardinality(String)),
    `rule_version` UInt16,
    `discovery` String CODEC(ZSTD(3)),
    `last_updated` DateTime('UTC'),
    `first_seen` DateTime('UTC'),
    `terms_since` DateTime('UTC') DEFAULT first_seen,
    `offer_id` UInt128,
    `content_id` UInt128,
    `ver` UInt64,
    `del` UInt8,
    INDEX ix_pay_to pay_to TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_capability capabilities TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (resource, method, source, network, scheme, asset, pay_to)
SETTINGS index_granularity = 256;

CREATE TABLE IF NOT EXISTS endpoint_sources
(
    `source` LowCardinality(String),
    `kind` Enum8('bazaar' = 1, 'well_known' = 2, 'file' = 3, 'contested' = 4),
    `host` String,
    `tried_at` DateTime('UTC'),
    `good_at` DateTime('UTC'),
    `problem` LowCardinality(String),
    `items` UInt64,
    `unread` String,
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY source;

CREATE TABLE IF NOT EXISTS payee_activity
(
    `pay_to` String CODEC(ZSTD(1)),
    `chain` LowCardinality(String),
    `settlement_count` UInt64,
    `unique_payers` UInt64,
    `settled_usd` Decimal(38, 6),
    `last_settled_at` DateTime('UTC'),
    `counted_at` DateTime('UTC'),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (pay_to, chain);

CREATE TABLE IF NOT EXISTS offer_activity
(
    `pay_to` String CODEC(ZSTD(1)),
    `chain` LowCardinality(String),
    `asset` String CODEC(ZSTD(1)),
    `is_range` UInt8,
    `amount` UInt256,
    `origin` String CODEC(ZSTD(1)),
    `since` DateTime('UTC'),
    `settlement_count` UInt64,
    `unique_payers` UInt64,
    `settled_usd` Decimal(38, 6),
    `last_settled_at` DateTime('UTC'),
    `span_counts` Array(UInt64),
    `span_payers` Array(UInt64),
    `span_usd` Array(Decimal(38, 6)),
    `days` Array(Tuple(Date, UInt64)),
    `hours` Array(Tuple(DateTime('UTC'), UInt64)),
    `counted_at` DateTime('UTC'),
    `ver` UInt64,
    `del` UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (pay_to, chain, asset, is_range, amount, origin, since);

CREATE TABLE IF NOT EXISTS endpoint_counts
(
    `of` LowCardinality(String),
    `counted_at` DateTime('UTC'),
    `ver` UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY of;

CREATE TABLE IF NOT EXISTS endpoint_list
(
    `resource` String CODEC(ZSTD(1)),
    `method` LowCardinality(String),
    `service_name` String CODEC(ZSTD(1)),
    `description` String CODEC(ZSTD(3)),
    `mime_type` LowCardinality(String),
    `tags` Array(LowCardinality(String)),
    `capabilities` Array(LowCardinality(String)),
    `pay_to` String CODEC(ZSTD(1)),
    `network` LowCardinality(String),
    `price_usd` Nullable(Decimal(38, 6)),
    `pay_tos` Array(String) CODEC(ZSTD(1)),
    `networks` Array(LowCardinality(String)),
    `chains` Array(LowCardinality(String)),
    `sources` Array(LowCardinality(String)),
    `offers` String CODEC(ZSTD(3)),
    `search_text` String CODEC(ZSTD(1)),
    `shared_pay_to` UInt8,
    `settlement_count` UInt64,
    `unique_payers` UInt64,
    `settled_usd` Decimal(38, 6),
    `last_settled_at` DateTime('UTC'),
    `span_counts` Array(UInt64),
    `span_payers` Array(UInt64),
    `span_usd` Array(Decimal(38, 6)),
    `days` Array(Tuple(Date, UInt64)),
    `hours` Array(Tuple(DateTime('UTC'), UInt64)),
    `last_updated` DateTime('UTC'),
    `content` UInt64,
    `ver` UInt64,
    `del` UInt8,
    `observed_since` DateTime('UTC'),
    `same_terms` UInt64,
    `is_published` UInt8,
    `contested` UInt8,
    `claimants` String CODEC(ZSTD(3)),
    `payee_count` UInt64,
    `payee_payers` UInt64,
    `payee_usd` Decimal(38, 6),
    `payee_last` DateTime('UTC'),
    `unobserved` LowCardinality(String)
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (resource, method)
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS hour_ver_mv TO hour_ver AS
SELECT toStartOfHour(block_time) AS hour, max(ver) AS ver FROM settlements GROUP BY hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS settlement_changes_mv TO settlement_changes AS
SELECT
    now64(6, 'UTC') AS at, chain, toStartOfHour(block_time) AS hour,
    if(del = 1, block_number, 0) AS gone_block,
    if(del = 1, tx_hash, unhex('0000000000000000000000000000000000000000000000000000000000000000')) AS gone_tx,
    if(del = 1, log_index, 0) AS gone_log,
    any(if(del = 1, payer, unhex('0000000000000000000000000000000000000000'))) AS gone_payer,
    any(if(del = 1, payee, unhex('0000000000000000000000000000000000000000'))) AS gone_payee,
    min(block_time) AS first_time, max(block_time) AS last_time,
    min(ver) AS first_ver, max(ver) AS last_ver,
    min(ver % 100000) AS first_room, max(ver % 100000) AS last_room
FROM settlements
GROUP BY chain, hour, gone_block, gone_tx, gone_log;

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_rows_mv TO wallet_rows AS
SELECT
    if(length(if(role = 'payer', payer, payee)) = 20, concat('0x', lower(hex(if(role = 'payer', payer, payee)))), base58Encode(if(role = 'payer', payer, payee))) AS wallet,
    CAST(role AS Enum8('payer' = 1, 'payee' = 2)) AS role,
    chain,
    block_number,
    block_time,
    tx_hash,
    log_index,
    if(role = 'payer', payee, payer) AS counterparty,
    asset,
    asset_symbol,
    amount - toUInt256(reinterpret(amount_usd, 'Int64')) AS amount_rest,
    amount_usd,
    usd_known,
    relayer,
    facilitator,
    method,
    seen,
    kind,
    scheme,
    channel,
    fee_amount,
    ver,
    del
FROM settlements
ARRAY JOIN ['payer', 'payee'] AS role;

CREATE MATERIALIZED VIEW IF NOT EXISTS channel_rows_mv TO channel_rows AS
SELECT
    chain,
    block_number,
    block_time,
    tx_hash,
    log_index,
    payer,
    payee,
    asset,
    asset_symbol,
    amount,
    amount_usd,
    usd_known,
    relayer,
    facilitator,
    method,
    seen,
    kind,
    scheme,
    channel,
    contract,
    fee_amount,
    ver,
    del
FROM settlements
WHERE channel != '';

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_attestations_mv TO agent_attestations AS
SELECT * FROM attestations;

CREATE MATERIALIZED VIEW IF NOT EXISTS feedback_revocations_mv TO feedback_revocations AS
SELECT chain, agent_id, client, feedback_index, block_time, block_number, log_index, ver, del
FROM attestations WHERE kind = 'revocation';

CREATE MATERIALIZED VIEW IF NOT EXISTS feedback_files_mv TO feedback_files AS
SELECT chain, block_number, log_index, agent_id, client, uri, file_hash, ver, del
FROM attestations WHERE kind = 'feedback' AND uri != '';

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_feedback_files_mv TO agent_feedback_files AS
SELECT * FROM feedback_files;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_events_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM agent_events GROUP BY chain, agent_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_attestations_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM attestations GROUP BY chain, agent_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_cards_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM agent_cards GROUP BY chain, agent_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_files_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM feedback_files WHERE status = 'good' GROUP BY chain, agent_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_seen_mv TO wallet_seen AS
SELECT arrayJoin([payer, payee]) AS wallet, max(block_time) AS last_time FROM settlements WHERE del = 0 GROUP BY wallet;

CREATE MATERIALIZED VIEW IF NOT EXISTS transaction_times_mv TO transaction_times AS
SELECT reinterpretAsUInt32(substring(tx_hash, 1, 4)) AS prefix, block_time FROM settlements WHERE del = 0 GROUP BY prefix, block_time;

CREATE MATERIALIZED VIEW IF NOT EXISTS pair_day_by_payee_mv TO pair_day_by_payee AS
SELECT payee, payer, day, hour, chain, settlement_count, proven_count, proven_usd, other_usd, dust_count, dust_proven_usd, dust_other_usd, first_second, span, gen FROM pair_day;

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_history_mv TO wallet_history AS
SELECT
    if(length(if(role = 'payer', payer, payee)) = 20, concat('0x', lower(hex(if(role = 'payer', payer, payee)))), base58Encode(if(role = 'payer', payer, payee))) AS wallet,
    CAST(role AS Enum8('payer' = 1, 'payee' = 2)) AS role,
    chain,
    block_number,
    block_time,
    tx_hash,
    log_index,
    if(role = 'payer', payee, payer) AS counterparty,
    asset,
    asset_symbol,
    amount,
    amount_usd,
    usd_known,
    relayer,
    facilitator,
    method,
    seen,
    kind,
    scheme,
    channel,
    fee_amount,
    old_ver,
    old_del,
    pass,
    kept_at
FROM settlement_history
ARRAY JOIN ['payer', 'payee'] AS role;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_wallets_mv TO agent_wallets AS
SELECT wallet, chain, agent_id FROM agents WHERE del = 0 AND wallet != unhex('0000000000000000000000000000000000000000');

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_claims_mv TO agent_claims AS
SELECT arrayJoin(arrayMap(account -> if(startsWith(account, '0x'), unhex(substring(account, 3)), tryBase58Decode(account)), extractAll(services, '"endpoint":"(?:eip155:[0-9]{1,16}|solana:[1-9A-HJ-NP-Za-km-z]{32}):(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})"'))) AS wallet, chain, agent_id
FROM agents WHERE del = 0;

CREATE OR REPLACE VIEW rollup_slices AS
SELECT day, slice AS hour, changed.ver AS ver, changed.writes AS writes, if(changed.writes = done.writes, changed.ver, 0) AS rolled_ver
FROM
(
    SELECT toDate(hour) AS day,
        if(day IN (SELECT day FROM rollup_state WHERE hour >= 0), toInt8(toHour(hour)), toInt8(-1)) AS slice,
        max(hour_ver.ver) AS ver,
        sum(hour_ver.writes) AS writes
    FROM hour_ver
    GROUP BY day, slice
) AS changed
LEFT JOIN (SELECT day, hour AS slice, if(figures = 2, writes, 0) AS writes FROM rollup_state FINAL) AS done USING (day, slice);

CREATE OR REPLACE VIEW plain_coverage AS
WITH (
    SELECT (groupArray(month), groupArray(until), groupArray(writes), groupArray(gen))
    FROM plain_months FINAL WHERE 0
) AS made
SELECT
    toStartOfMonth(hour) AS month,
    indexOf(made.1, month) AS place,
    made.2[place] AS until,
    made.4[place] AS gen,
    place > 0 AND sumIf(writes, hour < until) = made.3[place] AS is_plain,
    if(is_plain, groupUniqArrayIf(hour, hour >= until), groupUniqArray(hour)) AS open_hours
FROM hour_ver
GROUP BY month;
