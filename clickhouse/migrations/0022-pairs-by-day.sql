-- Payments of one wallet to another by slice, in both orders: sorted by payer a counterparty of a payer is found, sorted by payee one
-- of a payee. `first_second` and `span` (from the first to the last settlement) count seconds of the UTC day, and dollars are kept
-- apart as proven and other, because most rows stand for one settlement: so a value is stored once and the rest is zeros. The second
-- address of the key hardly repeats within 64 KB, the size of a block by default: with larger blocks it costs a sixth less. By month,
-- because readers ask for the last days of a wallet, and a month that is over becomes one part, which FINAL need not merge. The index serves
-- analysts, who name a payer as text: text sorts as its bytes do.
CREATE TABLE IF NOT EXISTS pair_day
(
    payer FixedString(20) CODEC(ZSTD(1)),
    payee FixedString(20) CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = 262144, max_compress_block_size = 262144),
    day Date CODEC(ZSTD(1)),
    hour Int8 CODEC(ZSTD(1)),
    chain LowCardinality(String) CODEC(ZSTD(1)),
    settlement_count UInt64 CODEC(ZSTD(1)),
    proven_count UInt64 CODEC(ZSTD(1)),
    proven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    other_usd Decimal(38, 6) CODEC(ZSTD(1)),
    first_second UInt32 CODEC(T64, ZSTD(1)),
    span UInt32 CODEC(ZSTD(1)),
    gen UInt64 CODEC(ZSTD(1)),
    INDEX ix_payer_text concat('0x', lower(hex(payer))) TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(gen)
PARTITION BY toYYYYMM(day)
ORDER BY (payer, payee, day, hour, chain)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE TABLE IF NOT EXISTS pair_day_by_payee
(
    payee FixedString(20) CODEC(ZSTD(1)),
    payer FixedString(20) CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = 262144, max_compress_block_size = 262144),
    day Date CODEC(ZSTD(1)),
    hour Int8 CODEC(ZSTD(1)),
    chain LowCardinality(String) CODEC(ZSTD(1)),
    settlement_count UInt64 CODEC(ZSTD(1)),
    proven_count UInt64 CODEC(ZSTD(1)),
    proven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    other_usd Decimal(38, 6) CODEC(ZSTD(1)),
    first_second UInt32 CODEC(T64, ZSTD(1)),
    span UInt32 CODEC(ZSTD(1)),
    gen UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
PARTITION BY toYYYYMM(day)
ORDER BY (payee, payer, day, hour, chain)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS pair_day_by_payee_mv TO pair_day_by_payee AS
SELECT payee, payer, day, hour, chain, settlement_count, proven_count, proven_usd, other_usd, first_second, span, gen
FROM pair_day;

-- Settlements and dollars by evidence tier, next to those that are proven; what is in no column is not graded yet. `assets` lists the
-- tokens, sorted.
ALTER TABLE payee_day
    ADD COLUMN IF NOT EXISTS probable_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS probable_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unproven_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unproven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS not_x402_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS not_x402_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS assets Array(FixedString(20)) CODEC(ZSTD(1));

ALTER TABLE payer_day
    ADD COLUMN IF NOT EXISTS probable_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS probable_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unproven_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unproven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS not_x402_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS not_x402_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS assets Array(FixedString(20)) CODEC(ZSTD(1));

ALTER TABLE chain_hour
    ADD COLUMN IF NOT EXISTS self_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS self_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS proven_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS proven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS probable_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS probable_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unproven_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unproven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS not_x402_count UInt64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS not_x402_usd Decimal(38, 6) CODEC(ZSTD(1));

-- Which tables and columns a computation filled (ROLLUP_FIGURES in clickhouse/tables/rollups.ts).
ALTER TABLE rollup_state ADD COLUMN IF NOT EXISTS figures UInt8 DEFAULT 0;

-- A slice that was computed by a release without these is dirty. Otherwise as before: every slice that has rows, in the form that
-- it is closed in, dirty while `ver` > `rolled_ver`.
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
LEFT JOIN (SELECT day, hour AS slice, if(figures = 1, writes, 0) AS writes FROM rollup_state FINAL) AS done USING (day, slice);
