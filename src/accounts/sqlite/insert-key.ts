import type Database from 'libsql';
import type { KeyRecord } from '../store.ts';
import { prepare } from './statement.ts';

/** Adds a key; false when its id or its digest is taken. */
export function keyInserter(db: Database.Database): (key: KeyRecord) => boolean {
  const insert = prepare(
    db,
    `INSERT INTO api_key (id, digest, kind, organization_id, label, created_at_ms, expires_at_ms, revoked_at_ms)
     VALUES (:id, :digest, :kind, :organizationId, :label, :createdAtMs, :expiresAtMs, :revokedAtMs)
     ON CONFLICT (id) DO NOTHING ON CONFLICT (digest) DO NOTHING`,
  );
  return (key) => insert.run({ ...key }) === 1;
}
