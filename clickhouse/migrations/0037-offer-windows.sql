-- What was observed of an offer, by window: `span_counts`, `span_payers` and `span_usd` have an entry for each window of rankings and for the
-- one of the same length before it (clickhouse/tables/endpoints.ts declares their order). `days` are the UTC days with payments, `hours` those
-- of the last 24 hours, each with its number of payments. `since` is when the offer began, no longer cut at 30 days; settlement_count,
-- unique_payers, settled_usd and last_settled_at stay those of today and the 29 UTC days before.
ALTER TABLE offer_activity ADD COLUMN IF NOT EXISTS span_counts Array(UInt64) AFTER last_settled_at;
ALTER TABLE offer_activity ADD COLUMN IF NOT EXISTS span_payers Array(UInt64) AFTER span_counts;
ALTER TABLE offer_activity ADD COLUMN IF NOT EXISTS span_usd Array(Decimal(38, 6)) AFTER span_payers;
ALTER TABLE offer_activity ADD COLUMN IF NOT EXISTS days Array(Tuple(Date, UInt64)) AFTER span_usd;
ALTER TABLE offer_activity ADD COLUMN IF NOT EXISTS hours Array(Tuple(DateTime('UTC'), UInt64)) AFTER days;

-- Those of the headline offer.
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS span_counts Array(UInt64) AFTER last_settled_at;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS span_payers Array(UInt64) AFTER span_counts;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS span_usd Array(Decimal(38, 6)) AFTER span_payers;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS days Array(Tuple(Date, UInt64)) AFTER span_usd;
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS hours Array(Tuple(DateTime('UTC'), UInt64)) AFTER days;
