-- The public name of an organization, once and for good; the skeleton is the same for names that look alike.
ALTER TABLE organization ADD COLUMN handle TEXT;
ALTER TABLE organization ADD COLUMN handle_skeleton TEXT;

CREATE UNIQUE INDEX organization_handle ON organization (handle) WHERE handle IS NOT NULL;
CREATE UNIQUE INDEX organization_handle_skeleton ON organization (handle_skeleton) WHERE handle_skeleton IS NOT NULL;

-- settings is NULL once the query was removed: its row stays, so that no number of a version is used twice.
CREATE TABLE saved_query (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  slug TEXT NOT NULL,
  latest_version INTEGER NOT NULL CHECK (latest_version > 0),
  settings TEXT,
  is_public INTEGER NOT NULL CHECK (is_public IN (0, 1)),
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  refresh_seconds INTEGER,
  due_at_ms INTEGER,
  look_at_ms INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, slug),
  CHECK ((refresh_seconds IS NULL) = (due_at_ms IS NULL)),
  CHECK ((due_at_ms IS NULL) = (look_at_ms IS NULL)),
  CHECK (settings IS NOT NULL OR (is_public = 0 AND due_at_ms IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX saved_query_due ON saved_query (look_at_ms) WHERE look_at_ms IS NOT NULL;
CREATE INDEX saved_query_public ON saved_query (organization_id, slug) WHERE is_public = 1;

CREATE TABLE saved_query_version (
  organization_id TEXT NOT NULL,
  slug TEXT NOT NULL,
  version INTEGER NOT NULL,
  content TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (organization_id, slug, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE query_refresh (
  organization_id TEXT NOT NULL,
  slug TEXT NOT NULL,
  due_at_ms INTEGER NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (organization_id, slug, due_at_ms)
) STRICT, WITHOUT ROWID;

-- The same with the lane 'earned'.
CREATE TABLE usage_day_earned (
  owner TEXT NOT NULL,
  day INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  lane TEXT NOT NULL CHECK (lane IN ('units', 'x402', 'trial', 'free', 'earned')),
  calls INTEGER NOT NULL,
  units INTEGER NOT NULL,
  usd_micros INTEGER NOT NULL,
  PRIMARY KEY (owner, day, key_id, operation, lane)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_day_earned SELECT owner, day, key_id, operation, lane, calls, units, usd_micros FROM usage_day;
DROP TABLE usage_day;
ALTER TABLE usage_day_earned RENAME TO usage_day;
