-- Agents as they are now: a pure function of agent_events, agent_cards and agent_attestations, derived anew for every agent
-- that is due (agent_changes.changes differs from derived_changes). del = 1: its registration was taken back.
CREATE TABLE IF NOT EXISTS agents
(
    chain LowCardinality(String),
    agent_id UInt256,
    owner FixedString(20) CODEC(ZSTD(1)),
    wallet FixedString(20) CODEC(ZSTD(1)),
    agent_uri String CODEC(ZSTD(3)),
    registered_at DateTime('UTC'),
    registered_block UInt64,
    registered_tx FixedString(32) CODEC(NONE),
    updated_at DateTime('UTC'),
    name String CODEC(ZSTD(1)),
    description String CODEC(ZSTD(3)),
    image String CODEC(ZSTD(3)),
    services String CODEC(ZSTD(3)),
    supported_trust Array(LowCardinality(String)),
    x402_support UInt8,
    active UInt8,
    capabilities Array(LowCardinality(String)),
    card_status Enum8('none' = 0, 'good' = 1, 'failed' = 2),
    card_problem LowCardinality(String),
    card_at DateTime('UTC'),
    card_due_at DateTime('UTC'),
    domain String CODEC(ZSTD(1)),
    domain_proof Enum8('unchecked' = 0, 'proven' = 1, 'refuted' = 2, 'unreachable' = 3),
    feedback_count UInt64,
    distinct_clients UInt64,
    score Nullable(Decimal(76, 18)),
    last_feedback_at DateTime('UTC'),
    derived_changes UInt64,
    ver UInt64,
    del UInt8,
    INDEX ix_owner owner TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_capability capabilities TYPE bloom_filter(0.001) GRANULARITY 1,
    -- Words of name and description in any script: letters, marks and digits; of Chinese and Japanese, which are written without
    -- spaces, every letter. A search reads the granules that hold all of them (src/reads/agent-words.ts spells the same).
    INDEX ix_words replaceRegexpAll(replaceRegexpAll(lowerUTF8(concat(name, ' ', description)), '[^\\p{L}\\p{M}\\p{N}]+', ' '), '[\\p{Han}\\p{Hiragana}\\p{Katakana}]', ' \\0 ') TYPE text(tokenizer = 'splitByNonAlpha')
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id)
-- A page names agents from all over the table.
SETTINGS index_granularity = 256;

-- Which agents may have a wallet: every one that ever had it. Whoever looks a wallet up asks `agents` whether it still has.
CREATE TABLE IF NOT EXISTS agent_wallets
(
    wallet FixedString(20),
    chain LowCardinality(String),
    agent_id UInt256
)
ENGINE = ReplacingMergeTree
ORDER BY (wallet, chain, agent_id)
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_wallets_mv TO agent_wallets AS
SELECT wallet, chain, agent_id FROM agents WHERE del = 0 AND wallet != toFixedString('', 20);

-- The agents of one derivation, with the changes that were read before anything else: whatever comes later is due again.
CREATE TABLE IF NOT EXISTS agents_due
(
    batch UInt64,
    chain LowCardinality(String),
    agent_id UInt256,
    changes UInt64,
    written_at DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY (batch, chain, agent_id)
TTL written_at + INTERVAL 1 HOUR;

-- When each wallet was last seen in a settlement: pages of agents ask for a hundred wallets at once, and a granule of wallet_log
-- for each is a hundred times as many rows. A settlement that a reorg took back still counts here; the newest time cannot be
-- unlearned, and shortly after the same payment is mostly in another block.
CREATE TABLE IF NOT EXISTS wallet_seen
(
    wallet FixedString(20),
    last_time SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY wallet
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS wallet_seen_mv TO wallet_seen AS
SELECT arrayJoin([payer, payee]) AS wallet, max(block_time) AS last_time FROM settlements WHERE del = 0 GROUP BY wallet;

INSERT INTO wallet_seen SELECT arrayJoin([payer, payee]) AS wallet, max(block_time) AS last_time FROM settlements WHERE del = 0 GROUP BY wallet;
