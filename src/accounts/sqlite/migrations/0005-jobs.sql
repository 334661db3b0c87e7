CREATE TABLE job (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  request TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired')),
  attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  created_at_ms INTEGER NOT NULL,
  lease_until_ms INTEGER,
  started_at_ms INTEGER,
  ended_at_ms INTEGER,
  cancel_at_ms INTEGER,
  progress TEXT,
  result_id TEXT,
  outcome TEXT,
  CHECK ((state = 'running') = (lease_until_ms IS NOT NULL)),
  CHECK ((state IN ('queued', 'running')) = (ended_at_ms IS NULL)),
  CHECK ((ended_at_ms IS NULL) = (outcome IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX job_queued ON job (created_at_ms, id) WHERE state = 'queued';
CREATE INDEX job_running ON job (lease_until_ms, id) WHERE state = 'running';
CREATE INDEX job_ended ON job (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
CREATE INDEX job_of_organization ON job (organization_id, created_at_ms DESC, id);

CREATE TABLE result (
  id TEXT NOT NULL PRIMARY KEY,
  query_key TEXT NOT NULL,
  organization_id TEXT,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  facts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX result_of_query ON result (query_key, created_at_ms);
CREATE INDEX result_of_organization ON result (organization_id, created_at_ms DESC, id);
CREATE INDEX result_expires ON result (expires_at_ms);

-- Organizations that may read a result: its payer, and those that were answered with it.
CREATE TABLE result_reader (
  id TEXT NOT NULL REFERENCES result (id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  PRIMARY KEY (id, organization_id)
) STRICT, WITHOUT ROWID;
