-- What the listing says of input and output: JSON of at most 6,000 characters (ingest/endpoints/discovery.ts), '' where it says nothing.
ALTER TABLE endpoint_offers ADD COLUMN IF NOT EXISTS discovery String CODEC(ZSTD(3));
