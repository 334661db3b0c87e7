-- Rollups: a pure function of `settlements`, recomputed slice by slice when the slice is dirty (design.md 3 rule 5,
-- engine.md 4.4). A slice is a UTC day (`hour` = -1) or, in a day of more than a million rows, one of its hours (0 to 23).
-- Rows of a day count only in the form that the day is closed in: whole, or, once rollup_state holds an hour of it, by hours.

-- The newest change of each hour: a slice is dirty while this is above what it was computed from. Replaces day_ver, whose days
-- are too coarse for busy chains. A regrade writes here too, because its rows keep a low `ver` (ingest/versions.ts).
CREATE TABLE IF NOT EXISTS hour_ver
(
    hour DateTime('UTC'),
    ver SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS hour_ver_mv TO hour_ver AS
SELECT toStartOfHour(block_time) AS hour, max(ver) AS ver FROM settlements GROUP BY hour;

INSERT INTO hour_ver SELECT toStartOfHour(block_time) AS hour, max(ver) AS ver FROM settlements GROUP BY hour;

DROP TABLE IF EXISTS day_ver_mv;
DROP TABLE IF EXISTS day_ver;

-- What each slice was computed from. Read `hour_ver` before computing, write here after.
CREATE TABLE IF NOT EXISTS rollup_state
(
    day Date,
    hour Int8,
    ver UInt64,
    gen UInt64
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (day, hour);

-- Keys that lost a row to a tombstone. Another event may take the tombstone's place in `settlements`, and then nothing else
-- remembers that the old payer, payee and relayer must be counted again. Written before the tombstones; too many is harmless.
CREATE TABLE IF NOT EXISTS retracted_keys
(
    hour DateTime('UTC'),
    chain LowCardinality(String),
    payer FixedString(20),
    payee FixedString(20),
    relayer FixedString(20)
)
ENGINE = ReplacingMergeTree
ORDER BY (hour, chain, payer, payee, relayer);

-- Not partitioned: a look-up by wallet would touch every partition. Small granules, because a busy wallet has hundreds of rows
-- here and a look-up reads whole granules of every part: 8,192 rows each by default.
CREATE TABLE IF NOT EXISTS payee_day
(
    payee String CODEC(ZSTD(1)),
    day Date,
    hour Int8,
    chain LowCardinality(String),
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    self_count UInt64 CODEC(ZSTD(1)),
    self_usd Decimal(38, 6) CODEC(ZSTD(1)),
    proven_count UInt64 CODEC(ZSTD(1)),
    proven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    payers AggregateFunction(uniqCombined64(12), FixedString(20)) CODEC(ZSTD(1)),
    first_time DateTime('UTC') CODEC(ZSTD(1)),
    last_time DateTime('UTC') CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (payee, day, hour, chain)
SETTINGS index_granularity = 1024;

CREATE TABLE IF NOT EXISTS payer_day
(
    payer String CODEC(ZSTD(1)),
    day Date,
    hour Int8,
    chain LowCardinality(String),
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    self_count UInt64 CODEC(ZSTD(1)),
    self_usd Decimal(38, 6) CODEC(ZSTD(1)),
    proven_count UInt64 CODEC(ZSTD(1)),
    proven_usd Decimal(38, 6) CODEC(ZSTD(1)),
    payees AggregateFunction(uniqCombined64(12), FixedString(20)) CODEC(ZSTD(1)),
    first_time DateTime('UTC') CODEC(ZSTD(1)),
    last_time DateTime('UTC') CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (payer, day, hour, chain)
SETTINGS index_granularity = 1024;

-- Still smaller granules: a page asks for 50 relayers all over the key, and states are most of what is read.
CREATE TABLE IF NOT EXISTS relayer_day
(
    chain LowCardinality(String),
    relayer FixedString(20) CODEC(ZSTD(1)),
    day Date,
    hour Int8,
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    payers AggregateFunction(uniqCombined64(14), FixedString(20)) CODEC(ZSTD(1)),
    payees AggregateFunction(uniqCombined64(14), FixedString(20)) CODEC(ZSTD(1)),
    first_time DateTime('UTC') CODEC(ZSTD(1)),
    last_time DateTime('UTC') CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (chain, relayer, day, hour)
SETTINGS index_granularity = 256;

-- Hours are its key, so both forms of a day write the same rows.
CREATE TABLE IF NOT EXISTS chain_hour
(
    chain LowCardinality(String),
    hour DateTime('UTC'),
    facilitator LowCardinality(String),
    settlement_count UInt64 CODEC(ZSTD(1)),
    settled_usd Decimal(38, 6) CODEC(ZSTD(1)),
    gen UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(gen)
ORDER BY (chain, hour, facilitator);

-- Every slice that has rows, in the form that it is closed in; dirty while `ver` > `rolled_ver` (0: never computed). The worker
-- and the API both ask here, so that there is one definition of dirty.
CREATE OR REPLACE VIEW rollup_slices AS
SELECT day, slice AS hour, changed.ver AS ver, done.ver AS rolled_ver
FROM
(
    SELECT toDate(hour) AS day,
        if(day IN (SELECT day FROM rollup_state WHERE hour >= 0), toInt8(toHour(hour)), toInt8(-1)) AS slice,
        max(ver) AS ver
    FROM hour_ver
    GROUP BY day, slice
) AS changed
LEFT JOIN (SELECT day, hour AS slice, ver FROM rollup_state FINAL) AS done USING (day, slice);
