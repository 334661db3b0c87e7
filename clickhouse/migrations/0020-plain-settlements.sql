-- Past settlements once more, for scans: one row each without FINAL, the columns that analysts group by as they see them, and LZ4
-- (docs/design/storage.md has the measurements). A month is copied whole under a generation of its own and seen once plain_months
-- says so; what was written to since is read from `settlements`.
CREATE TABLE IF NOT EXISTS plain_settlements
(
    chain LowCardinality(String) CODEC(LZ4),
    block_number UInt64 CODEC(Delta, LZ4),
    block_time DateTime('UTC') CODEC(Delta, LZ4),
    tx_hash FixedString(32) CODEC(NONE),
    log_index UInt32 CODEC(LZ4),
    payer String CODEC(LZ4),
    payee String CODEC(LZ4),
    asset LowCardinality(String) CODEC(LZ4),
    asset_symbol LowCardinality(String) CODEC(LZ4),
    amount UInt256 CODEC(ZSTD(1)),
    amount_usd Decimal(18, 6) CODEC(LZ4),
    relayer LowCardinality(String) CODEC(LZ4),
    facilitator LowCardinality(String) CODEC(LZ4),
    method_code UInt8 CODEC(LZ4),
    evidence_tier LowCardinality(String) CODEC(LZ4),
    is_self_payment Bool CODEC(LZ4),
    seen UInt32 CODEC(LZ4),
    builder_facilitator LowCardinality(String) CODEC(LZ4),
    builder_apps LowCardinality(String) CODEC(LZ4),
    gen UInt64 CODEC(Delta, LZ4),
    INDEX ix_asset asset TYPE set(100) GRANULARITY 1,
    INDEX ix_payer payer TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_payee payee TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_tx concat('0x', lower(hex(tx_hash))) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (block_time, chain, block_number, log_index)
SETTINGS min_age_to_force_merge_seconds = 600, min_age_to_force_merge_on_partition_only = 1;

-- What was copied: the month up to `until`, after `writes` inserts had touched its hours (hour_ver).
CREATE TABLE IF NOT EXISTS plain_months
(
    month Date,
    until DateTime('UTC'),
    writes UInt64,
    gen UInt64
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY month;

-- Every month that has rows: whether its copy is current, and the hours that must be read from `settlements`. The worker that copies
-- and the public views both ask here, so that there is one definition of current.
CREATE OR REPLACE VIEW plain_coverage AS
WITH (SELECT (groupArray(month), groupArray(until), groupArray(writes), groupArray(gen)) FROM plain_months FINAL) AS made
SELECT
    toStartOfMonth(hour) AS month,
    indexOf(made.1, month) AS place,
    made.2[place] AS until,
    made.4[place] AS gen,
    place > 0 AND sumIf(writes, hour < until) = made.3[place] AS is_plain,
    if(is_plain, groupUniqArrayIf(hour, hour >= until), groupUniqArray(hour)) AS open_hours
FROM hour_ver
GROUP BY month;
