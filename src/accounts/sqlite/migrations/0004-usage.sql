-- Limits of keys. manages_keys is NULL for a key without any; used_* count the units of the latest day on which it began a call.
ALTER TABLE api_key ADD COLUMN manages_keys INTEGER;
ALTER TABLE api_key ADD COLUMN units_per_day INTEGER;
ALTER TABLE api_key ADD COLUMN operations TEXT;
ALTER TABLE api_key ADD COLUMN made_by TEXT;
ALTER TABLE api_key ADD COLUMN used_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_key ADD COLUMN used_units INTEGER NOT NULL DEFAULT 0;

ALTER TABLE hold ADD COLUMN key_id TEXT;

CREATE TABLE key_event (
  id INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organization (id),
  at_ms INTEGER NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('made', 'changed', 'revoked')),
  key_id TEXT NOT NULL,
  made_by TEXT,
  change TEXT NOT NULL
) STRICT;

CREATE INDEX key_event_of_organization ON key_event (organization_id, id);

CREATE TABLE usage_day (
  owner TEXT NOT NULL,
  day INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  lane TEXT NOT NULL CHECK (lane IN ('units', 'x402', 'trial', 'free')),
  calls INTEGER NOT NULL,
  units INTEGER NOT NULL,
  usd_micros INTEGER NOT NULL,
  PRIMARY KEY (owner, day, key_id, operation, lane)
) STRICT, WITHOUT ROWID;

-- What was charged before usage was counted: the ledger knows it, but for the key.
INSERT INTO usage_day (owner, day, key_id, operation, lane, calls, units, usd_micros)
SELECT 'org:' || organization_id, at_ms / 86400000, '', note, 'units', count(*), sum(units), 0
FROM ledger WHERE kind = 'capture' GROUP BY organization_id, at_ms / 86400000, note;

CREATE TABLE query_run (
  organization_id TEXT NOT NULL,
  id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX query_run_by_time ON query_run (organization_id, started_at_ms, id);
CREATE INDEX query_run_old ON query_run (started_at_ms);
CREATE INDEX query_run_of_key ON query_run (organization_id, key_id, started_at_ms, id);

-- Runs up to this time were forgotten, of one key or of all.
CREATE TABLE query_forgotten (
  organization_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  up_to_ms INTEGER NOT NULL,
  PRIMARY KEY (organization_id, key_id)
) STRICT, WITHOUT ROWID;
