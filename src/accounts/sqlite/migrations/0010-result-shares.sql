-- Links to kept results. The id is the hash of the link's token.
CREATE TABLE result_share (
  id TEXT NOT NULL PRIMARY KEY,
  result_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  facts TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX result_share_of ON result_share (organization_id, result_id, created_at_ms DESC, id);
CREATE INDEX result_share_expires ON result_share (expires_at_ms);
