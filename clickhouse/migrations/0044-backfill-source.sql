-- Where the newest blocks of a chain's backfill came from: a Portal or JSON-RPC.
ALTER TABLE chain_status ADD COLUMN IF NOT EXISTS backfill_source LowCardinality(String);
