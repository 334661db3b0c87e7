-- Tables of organizations, with their rows as they are kept.
CREATE TABLE own_table (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  facts TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  at_ms INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (organization_id, name)
) STRICT;
