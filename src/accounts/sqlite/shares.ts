import type Database from 'libsql';
import { SHARE_REMEMBERED_MS, type ShareRecord, type ShareStore } from '../share-store.ts';
import type { AtOnce } from './rows.ts';
import { prepare } from './rows.ts';

/** Links to kept results in SQLite. */

export interface ShareWrites {
  readonly addShare: AtOnce<ShareStore['add']>;
  readonly revokeShare: AtOnce<ShareStore['revoke']>;
}

const COLUMNS = `id, result_id AS resultId, organization_id AS organizationId, facts, created_at_ms AS createdAtMs,
  expires_at_ms AS expiresAtMs, revoked_at_ms AS revokedAtMs`;

/** Each new link makes room of at most so many old ones. */
const FORGOTTEN_PER_LINK = 10;

export function shareWrites(db: Database.Database): ShareWrites {
  const known = prepare<object>(db, 'SELECT 1 FROM result_share WHERE id = :id');
  const count = prepare<{ readonly shares: number }>(
    db,
    'SELECT count(*) AS shares FROM result_share WHERE organization_id = :organizationId AND result_id = :resultId',
  );
  const insert = prepare(
    db,
    `INSERT INTO result_share (id, result_id, organization_id, facts, created_at_ms, expires_at_ms)
     VALUES (:id, :resultId, :organizationId, :facts, :createdAtMs, :expiresAtMs)`,
  );
  const forget = prepare(
    db,
    `DELETE FROM result_share WHERE id IN
       (SELECT id FROM result_share WHERE expires_at_ms <= :untilMs ORDER BY expires_at_ms LIMIT :limit)`,
  );
  const revoke = prepare(
    db,
    `UPDATE result_share SET revoked_at_ms = coalesce(revoked_at_ms, :atMs)
     WHERE id = :id AND organization_id = :organizationId`,
  );
  return {
    addShare: ({ max, ...share }) => {
      if (known.one(share)) return 'replayed';
      if ((count.one(share)?.shares ?? 0) >= max) return 'too_many';
      insert.run(share);
      forget.run({ untilMs: share.createdAtMs - SHARE_REMEMBERED_MS, limit: FORGOTTEN_PER_LINK });
      return 'added';
    },
    revokeShare: (share) => revoke.run(share) === 1,
  };
}

export function shareReads(db: Database.Database): {
  readonly findShare: AtOnce<ShareStore['find']>;
  readonly listShares: AtOnce<ShareStore['list']>;
} {
  const one = prepare<ShareRecord>(db, `SELECT ${COLUMNS} FROM result_share WHERE id = :id`);
  const all = prepare<ShareRecord>(
    db,
    `SELECT ${COLUMNS} FROM result_share WHERE organization_id = :organizationId AND result_id = :resultId
     ORDER BY created_at_ms DESC, id`,
  );
  return { findShare: (id) => one.one({ id }) ?? null, listShares: (of) => all.all({ ...of }) };
}
