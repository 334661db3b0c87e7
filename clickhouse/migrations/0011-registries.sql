-- ERC-8004 as the registries' logs tell it (protocol.md 4.2), by the rules of the settlements: `ver` rises with every write
-- attempt, `del` marks what a reorg took back, everything below is derived from these two tables and from fetched files.

-- Logs of the identity registry, by agent: an agent's state is its events in the order of the chain.
-- account: registered and transferred: the owner; uri_updated: who did it; wallet_set: the wallet, zero when it was cleared;
-- metadata_set: zero. text: the URI, or the key of metadata. data: the value of metadata.
CREATE TABLE IF NOT EXISTS agent_events
(
    chain LowCardinality(String),
    agent_id UInt256,
    block_number UInt64 CODEC(Delta, ZSTD(1)),
    log_index UInt32,
    block_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
    block_hash FixedString(32) CODEC(ZSTD(1)),
    tx_hash FixedString(32) CODEC(NONE),
    kind Enum8('registered' = 1, 'uri_updated' = 2, 'metadata_set' = 3, 'wallet_set' = 4, 'transferred' = 5),
    account FixedString(20),
    text String CODEC(ZSTD(3)),
    data String CODEC(ZSTD(3)),
    ver UInt64 CODEC(Delta, ZSTD(1)),
    del UInt8,
    -- Of the newest blocks few granules have rows: a retraction reads those alone.
    INDEX ix_block block_number TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id, block_number, log_index)
-- Read by single keys from all over the table.
SETTINGS index_granularity = 256;

-- Logs of the reputation and validation registries, by time.
-- author: who wrote it (feedback and revocation: the client; response: the responder; validation: the validator asked).
-- client and feedback_index: which feedback a response or revocation is about. value: what was given, with its decimals;
-- of a validation_response 0 to 100. request_hash: of validations.
CREATE TABLE IF NOT EXISTS attestations
(
    block_time DateTime('UTC') CODEC(Delta, ZSTD(1)),
    chain LowCardinality(String),
    block_number UInt64 CODEC(Delta, ZSTD(1)),
    log_index UInt32,
    block_hash FixedString(32) CODEC(ZSTD(1)),
    tx_hash FixedString(32) CODEC(NONE),
    kind Enum8('feedback' = 1, 'response' = 2, 'revocation' = 3, 'validation_request' = 4, 'validation_response' = 5),
    agent_id UInt256,
    author FixedString(20) CODEC(ZSTD(1)),
    client FixedString(20) CODEC(ZSTD(1)),
    feedback_index UInt64,
    value Int128,
    value_decimals UInt8,
    tag1 String CODEC(ZSTD(1)),
    tag2 String CODEC(ZSTD(1)),
    endpoint String CODEC(ZSTD(1)),
    uri String CODEC(ZSTD(3)),
    file_hash FixedString(32) CODEC(ZSTD(1)),
    request_hash FixedString(32) CODEC(ZSTD(1)),
    ver UInt64 CODEC(Delta, ZSTD(1)),
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(block_time)
ORDER BY (block_time, chain, block_number, log_index)
-- Pages of a rare filter name rows from all over the table.
SETTINGS index_granularity = 512;

-- The same rows by agent: scores and the page of an agent read these alone.
CREATE TABLE IF NOT EXISTS agent_attestations AS attestations
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id, block_time, block_number, log_index)
-- A page asks what was revoked of feedback about agents from all over the table.
SETTINGS index_granularity = 256;

ALTER TABLE agent_attestations ADD INDEX IF NOT EXISTS ix_block block_number TYPE minmax GRANULARITY 1;
ALTER TABLE agent_attestations ADD INDEX IF NOT EXISTS ix_kind kind TYPE set(8) GRANULARITY 1;

-- Filters of the feed (src/reads/attestations.ts spells the same): without them a rare one reads the whole table.
ALTER TABLE attestations ADD INDEX IF NOT EXISTS ix_kind kind TYPE set(8) GRANULARITY 1;
ALTER TABLE attestations ADD INDEX IF NOT EXISTS ix_client client TYPE bloom_filter(0.001) GRANULARITY 1;
ALTER TABLE attestations ADD INDEX IF NOT EXISTS ix_tags [tag1, tag2] TYPE bloom_filter(0.001) GRANULARITY 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_attestations_mv TO agent_attestations AS SELECT * FROM attestations;

-- Which feedback was revoked, by what names it: a page asks for fifty ratings of agents that may have a million.
CREATE TABLE IF NOT EXISTS feedback_revocations
(
    chain LowCardinality(String),
    agent_id UInt256,
    client FixedString(20),
    feedback_index UInt64,
    block_time DateTime('UTC'),
    block_number UInt64,
    log_index UInt32,
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id, client, feedback_index, block_time, block_number, log_index)
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS feedback_revocations_mv TO feedback_revocations AS
SELECT chain, agent_id, client, feedback_index, block_time, block_number, log_index, ver, del
FROM attestations WHERE kind = 'revocation';

-- What an agent's state is derived from has changed while `changes` differs from what it was derived at. A count of written
-- rows, not the newest `ver`: of two inserts under way the later `ver` may be seen first, and the other would go unnoticed.
CREATE TABLE IF NOT EXISTS agent_changes
(
    chain LowCardinality(String),
    agent_id UInt256,
    changes SimpleAggregateFunction(sum, UInt64),
    changed_at SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (chain, agent_id);

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_events_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM agent_events GROUP BY chain, agent_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_attestations_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM attestations GROUP BY chain, agent_id;
