-- Why payments for an offer cannot be observed (core/domain/unobserved.ts), '' where they can. The chain of an offer may be indexed later, so
-- endpoint_offers does not say chain_not_indexed of a chain that has a name here; endpoint_list does.
ALTER TABLE endpoint_offers ADD COLUMN IF NOT EXISTS unobserved LowCardinality(String);
-- The payees that the item of the listing names on the same kind of network, sorted.
ALTER TABLE endpoint_offers ADD COLUMN IF NOT EXISTS item_pay_tos Array(String);
ALTER TABLE endpoint_list ADD COLUMN IF NOT EXISTS unobserved LowCardinality(String);
-- JSON: how many items of the last reading were not read, by reason (ingest/endpoints/item.ts).
ALTER TABLE endpoint_sources ADD COLUMN IF NOT EXISTS unread String;
