-- What was observed belongs to one offer (ingest/catalogues/endpoints), and ratings on one scale make a score (ingest/identities).

-- Since when an offer asks what it asks now: an offer that changes its amount has not been paid that amount before. first_seen
-- stays what it is, the time at which the address was first listed.
ALTER TABLE endpoint_offers ADD COLUMN IF NOT EXISTS terms_since DateTime('UTC') DEFAULT first_seen;

-- Payments of the last 30 days that fit the terms of an offer: payee, chain, asset, and the amount (is_range = 0) or at most the
-- amount (is_range = 1). They belong to one origin, and count for each of its offers on these terms from `since` on: the later of
-- terms_since and the start of the window.
CREATE TABLE IF NOT EXISTS offer_activity
(
    pay_to String CODEC(ZSTD(1)),
    chain LowCardinality(String),
    asset String CODEC(ZSTD(1)),
    is_range UInt8,
    amount UInt256,
    origin String CODEC(ZSTD(1)),
    since DateTime('UTC'),
    settlement_count UInt64,
    unique_payers UInt64,
    settled_usd Decimal(38, 6),
    last_settled_at DateTime('UTC'),
    counted_at DateTime('UTC'),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (pay_to, chain, asset, is_range, amount, origin, since);

-- pay_to, network, price_usd, settlement_count and the three columns behind it are those of one offer, the headline. `payee_…` is
-- what its address was paid for anything. claimants is a list in JSON: who is to be paid for this resource, by any listing of it.
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS observed_since DateTime('UTC');
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS same_terms UInt64;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS is_published UInt8;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS contested UInt8;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS claimants String CODEC(ZSTD(3));
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS payee_count UInt64;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS payee_payers UInt64;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS payee_usd Decimal(38, 6);
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS payee_last DateTime('UTC');

-- score is made of ratings on the scale 0 to 100, drawn to the middle by few clients; paid_score is the same of ratings whose
-- proof of payment holds. tag_scores is a list in JSON: the mean of each tag, on its own scale.
ALTER TABLE agents ADD COLUMN IF NOT EXISTS rating_mean Nullable(Decimal(76, 18));
ALTER TABLE agents ADD COLUMN IF NOT EXISTS rating_count UInt64;
ALTER TABLE agents ADD COLUMN IF NOT EXISTS rating_clients UInt64;
ALTER TABLE agents ADD COLUMN IF NOT EXISTS paid_score Nullable(Decimal(76, 18));
ALTER TABLE agents ADD COLUMN IF NOT EXISTS paid_count UInt64;
ALTER TABLE agents ADD COLUMN IF NOT EXISTS paid_clients UInt64;
ALTER TABLE agents ADD COLUMN IF NOT EXISTS tag_scores String CODEC(ZSTD(3));

-- Files of feedback once more, by agent: scores are derived for some agents at a time.
CREATE TABLE IF NOT EXISTS agent_feedback_files AS feedback_files
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, agent_id, block_number, log_index)
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS agent_feedback_files_mv TO agent_feedback_files AS SELECT * FROM feedback_files;

INSERT INTO agent_feedback_files SELECT * FROM feedback_files;

-- A file that was read makes its agent due: it may prove a payment. The logs themselves make it due without this.
CREATE MATERIALIZED VIEW IF NOT EXISTS agent_changes_files_mv TO agent_changes AS
SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at FROM feedback_files WHERE status = 'good' GROUP BY chain, agent_id;

-- Every agent is due once: its score has another meaning now.
INSERT INTO agent_changes SELECT chain, agent_id, 1 AS changes, now('UTC') AS changed_at FROM agents GROUP BY chain, agent_id;
