-- Keys of the wallet ids, 64 bits in place of 42 characters for those who group by the million (docs/design/storage.md).
CREATE TABLE IF NOT EXISTS wallet_id_keys
(
    made UInt64,
    low UInt64,
    high UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (made, low, high);

ALTER TABLE plain_settlements ADD COLUMN IF NOT EXISTS payer_id UInt64 CODEC(LZ4) AFTER builder_apps;
ALTER TABLE plain_settlements ADD COLUMN IF NOT EXISTS payee_id UInt64 CODEC(LZ4) AFTER payer_id;

-- Which key the ids of the copy were made with, as the id of the empty text: 0 for a copy without ids. View plain_coverage counts only copies with the key that the
-- public views use; each start makes it again with them (clickhouse/guest/views/coverage.ts).
ALTER TABLE plain_months ADD COLUMN IF NOT EXISTS id_key UInt64;
