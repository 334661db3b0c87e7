-- When what is observed of listed endpoints was last counted (ingest/endpoints): one row. offer_activity and payee_activity say when a figure
-- last changed, because a count writes only what is different.
CREATE TABLE IF NOT EXISTS endpoint_counts
(
    of LowCardinality(String),
    counted_at DateTime('UTC'),
    ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY of;
