-- What was fetched for agents and feedback. Files are strangers' data: only what the parser kept is stored (ingest/identities).

-- One row per agent: the newest try, and the last card that could be read. `uri` is the URI that was tried; a URI that the
-- agent has changed since is due at once. Texts are as they may be shown: control characters and look-alikes are gone.
CREATE TABLE IF NOT EXISTS agent_cards
(
    chain LowCardinality(String),
    agent_id UInt256,
    uri String CODEC(ZSTD(3)),
    status Enum8('good' = 1, 'failed' = 2),
    problem LowCardinality(String),
    failures UInt16,
    tried_at DateTime('UTC'),
    next_try_at DateTime('UTC'),
    good_uri String CODEC(ZSTD(3)),
    good_at DateTime('UTC'),
    name String CODEC(ZSTD(1)),
    description String CODEC(ZSTD(3)),
    image String CODEC(ZSTD(3)),
    services String CODEC(ZSTD(3)),
    supported_trust Array(LowCardinality(String)),
    x402_support UInt8,
    active UInt8,
    capabilities Array(LowCardinality(String)),
    rule_version UInt16,
    claims_agent UInt8,
    domain String CODEC(ZSTD(1)),
    domain_proof Enum8('unchecked' = 0, 'proven' = 1, 'refuted' = 2, 'unreachable' = 3),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id)
-- Read by single keys from all over the table.
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_cards_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM agent_cards GROUP BY chain, agent_id;

-- Files of feedback, by the log that names them. The view below makes a row when the log arrives; whoever fetches the file
-- replaces it with a later `ver`, and a reorg takes it back like the log.
CREATE TABLE IF NOT EXISTS feedback_files
(
    chain LowCardinality(String),
    block_number UInt64,
    log_index UInt32,
    agent_id UInt256,
    client FixedString(20),
    uri String CODEC(ZSTD(3)),
    file_hash FixedString(32),
    status Enum8('new' = 0, 'good' = 1, 'failed' = 2),
    problem LowCardinality(String),
    failures UInt16,
    next_try_at DateTime('UTC'),
    hash_matches UInt8,
    proof_chain LowCardinality(String),
    proof_tx FixedString(32),
    proof_from FixedString(20),
    proof_to FixedString(20),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, block_number, log_index)
-- Read by single keys from all over the table.
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS feedback_files_mv TO feedback_files AS
SELECT chain, block_number, log_index, agent_id, client, uri, file_hash, ver, del
FROM attestations WHERE kind = 'feedback' AND uri != '';
