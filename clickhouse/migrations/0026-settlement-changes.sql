-- What was written to `settlements`, in the order of the engine's clock, for readers who keep a copy (docs/design/storage.md). `ver`
-- cannot give that order: a regraded row keeps its place below the next version, and workers have clocks of their own.
-- One row for each insert, chain and hour says which versions it wrote, and one for each tombstone which event it took. `at` is not
-- before the engine listed the insert in system.processes and not after its rows could be seen, so all inserts that may still
-- add a row below a time are running then. A version is a whole number of steps of 100,000, and a regrade adds to it: `room`.
CREATE TABLE IF NOT EXISTS settlement_changes
(
    at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    chain LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
    gone_block UInt64 CODEC(Delta, ZSTD(1)),
    gone_tx FixedString(32) CODEC(ZSTD(1)),
    gone_log UInt32 CODEC(ZSTD(1)),
    gone_payer SimpleAggregateFunction(any, FixedString(20)) CODEC(ZSTD(1)),
    gone_payee SimpleAggregateFunction(any, FixedString(20)) CODEC(ZSTD(1)),
    first_time SimpleAggregateFunction(min, DateTime('UTC')) CODEC(Delta, ZSTD(1)),
    last_time SimpleAggregateFunction(max, DateTime('UTC')) CODEC(Delta, ZSTD(1)),
    first_ver SimpleAggregateFunction(min, UInt64) CODEC(Delta, ZSTD(1)),
    last_ver SimpleAggregateFunction(max, UInt64) CODEC(Delta, ZSTD(1)),
    first_room SimpleAggregateFunction(min, UInt64) CODEC(ZSTD(1)),
    last_room SimpleAggregateFunction(max, UInt64) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (at, chain, hour, gone_block, gone_tx, gone_log)
TTL toDateTime(at) + toIntervalDay(30)
SETTINGS index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS settlement_changes_mv TO settlement_changes AS
SELECT
    now64(6, 'UTC') AS at, chain, toStartOfHour(block_time) AS hour,
    if(del = 1, block_number, 0) AS gone_block,
    if(del = 1, tx_hash, toFixedString('', 32)) AS gone_tx,
    if(del = 1, log_index, 0) AS gone_log,
    any(if(del = 1, payer, toFixedString('', 20))) AS gone_payer,
    any(if(del = 1, payee, toFixedString('', 20))) AS gone_payee,
    min(block_time) AS first_time, max(block_time) AS last_time,
    min(ver) AS first_ver, max(ver) AS last_ver,
    min(ver % 100000) AS first_room, max(ver % 100000) AS last_room
FROM settlements
GROUP BY chain, hour, gone_block, gone_tx, gone_log;
