-- The rows of a ledger alone give an organization's figures again; the columns here are their sum, kept with every change.
CREATE TABLE organization (
  id TEXT NOT NULL PRIMARY KEY,
  display_name TEXT NOT NULL,
  plan TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  granted INTEGER NOT NULL DEFAULT 0,
  balance INTEGER NOT NULL DEFAULT 0 CHECK (balance >= 0),
  held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
  ledger_sequence INTEGER NOT NULL DEFAULT 0,
  CHECK (granted = balance + held + spent)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  id TEXT NOT NULL PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('live', 'trial')),
  organization_id TEXT REFERENCES organization (id),
  label TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_of_organization ON api_key (organization_id, id);

CREATE TABLE ledger (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  sequence INTEGER NOT NULL CHECK (sequence >= 1),
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('grant', 'hold', 'capture', 'release', 'overdue')),
  units INTEGER NOT NULL CHECK (units >= 1 OR (units = 0 AND kind = 'capture')),
  released INTEGER NOT NULL CHECK (released = 0 OR (released > 0 AND kind = 'capture')),
  subject TEXT NOT NULL,
  note TEXT NOT NULL,
  balance INTEGER NOT NULL CHECK (balance >= 0),
  held INTEGER NOT NULL CHECK (held >= 0),
  PRIMARY KEY (organization_id, sequence)
) STRICT, WITHOUT ROWID;

-- A grant is added once.
CREATE UNIQUE INDEX ledger_grant ON ledger (organization_id, subject) WHERE kind = 'grant';

CREATE TABLE hold (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  hold_id TEXT NOT NULL,
  units INTEGER NOT NULL CHECK (units >= 1),
  operation TEXT NOT NULL,
  held_at_ms INTEGER NOT NULL,
  overdue_at_ms INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'captured', 'released')),
  charged INTEGER NOT NULL DEFAULT 0 CHECK (charged BETWEEN 0 AND units AND (charged = 0 OR state = 'captured')),
  PRIMARY KEY (organization_id, hold_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hold_open ON hold (overdue_at_ms) WHERE state = 'open';

CREATE TABLE payment (
  chain TEXT NOT NULL,
  asset TEXT NOT NULL,
  payer TEXT NOT NULL,
  nonce TEXT NOT NULL,
  binding TEXT NOT NULL,
  resource TEXT NOT NULL,
  pay_to TEXT NOT NULL,
  amount TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('settling', 'settled', 'serving', 'served')),
  claimed_at_ms INTEGER NOT NULL,
  lease_until_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  expires_at_ms INTEGER NOT NULL,
  settlement_tx TEXT,
  key_id TEXT UNIQUE REFERENCES api_key (id),
  PRIMARY KEY (chain, asset, payer, nonce),
  CHECK ((state = 'settling') = (settlement_tx IS NULL)),
  CHECK (key_id IS NULL OR state <> 'settling')
) STRICT, WITHOUT ROWID;

CREATE INDEX payment_settling ON payment (lease_until_ms) WHERE state = 'settling';

CREATE TABLE reply (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  lease_until_ms INTEGER NOT NULL,
  keep_until_ms INTEGER NOT NULL,
  reply TEXT,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX reply_kept ON reply (keep_until_ms);
