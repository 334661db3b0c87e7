-- `contested`: an origin that listings disagree about is asked for its own /.well-known/x402 (ingest/catalogues/endpoints), without being
-- configured. Its source is named as a configured one is, `well_known:<origin>`; whether it answers says nothing about the directory.
ALTER TABLE endpoint_sources MODIFY COLUMN kind Enum8('bazaar' = 1, 'well_known' = 2, 'file' = 3, 'contested' = 4);
