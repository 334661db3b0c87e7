import type Database from 'libsql';
import { keyInserter } from './insert-key.ts';
import { prepare } from './statement.ts';
import type { AccountWrites } from './write-types.ts';

export function accountWrites(db: Database.Database): AccountWrites {
  const insertOrganization = prepare(
    db,
    `INSERT INTO organization (id, display_name, plan, created_at_ms)
     VALUES (:id, :displayName, :plan, :createdAtMs) ON CONFLICT (id) DO NOTHING`,
  );
  const changePlan = prepare(db, 'UPDATE organization SET plan = :plan WHERE id = :organizationId');
  const organizationExists = prepare<object>(db, 'SELECT 1 FROM organization WHERE id = :organizationId');
  const keyExists = prepare<object>(db, 'SELECT 1 FROM api_key WHERE id = :keyId');
  const insertKey = keyInserter(db);
  const revokeKey = prepare(
    db,
    `UPDATE api_key SET revoked_at_ms = :atMs
     WHERE id = :keyId AND (revoked_at_ms IS NULL OR revoked_at_ms > :atMs)`,
  );
  return {
    createOrganization: (organization) =>
      insertOrganization.run({ ...organization }) === 1 ? 'created' : 'exists',
    changePlan: (change) => (changePlan.run(change) === 1 ? 'changed' : 'unknown'),
    addKey: (key) => {
      const known =
        key.organizationId === null || organizationExists.one({ organizationId: key.organizationId });
      if (!known) return 'unknown_organization';
      return insertKey(key) ? 'added' : 'exists';
    },
    revokeKey: (key) => {
      if (revokeKey.run(key) === 1) return 'revoked';
      return keyExists.one(key) ? 'was_revoked' : 'unknown';
    },
  };
}
