import type Database from 'libsql';
import { prepare } from './statement.ts';
import type { ReplyWrites } from './write-types.ts';

interface ReplyRow {
  readonly requestDigest: string;
  readonly leaseUntilMs: number;
  readonly keepUntilMs: number;
  readonly reply: string | null;
}

/** Forgotten with every beginning. More than one, so that the table shrinks after a rush; few, so that no caller waits. */
const FORGOTTEN_PER_BEGIN = 4;

export function replyWrites(db: Database.Database): ReplyWrites {
  const find = prepare<ReplyRow>(
    db,
    `SELECT request_digest AS requestDigest, lease_until_ms AS leaseUntilMs, keep_until_ms AS keepUntilMs, reply
     FROM reply WHERE scope = :scope AND key = :key`,
  );
  const forgetOld = prepare(
    db,
    `DELETE FROM reply WHERE (scope, key) IN
       (SELECT scope, key FROM reply WHERE keep_until_ms <= :nowMs ORDER BY keep_until_ms LIMIT ${FORGOTTEN_PER_BEGIN})`,
  );
  const begin = prepare(
    db,
    `INSERT OR REPLACE INTO reply (scope, key, request_digest, lease_until_ms, keep_until_ms)
     VALUES (:scope, :key, :requestDigest, :leaseUntilMs, :keepUntilMs)`,
  );
  const keep = prepare(
    db,
    'UPDATE reply SET reply = :reply WHERE scope = :scope AND key = :key AND reply IS NULL',
  );
  const forget = prepare(db, 'DELETE FROM reply WHERE scope = :scope AND key = :key AND reply IS NULL');
  return {
    beginReply: (request) => {
      const known = find.one(request);
      if (known && known.keepUntilMs > request.nowMs) {
        if (known.requestDigest !== request.requestDigest) return { outcome: 'conflict' };
        if (known.reply !== null) return { outcome: 'done', reply: known.reply };
        if (known.leaseUntilMs > request.nowMs) return { outcome: 'running' };
      }
      forgetOld.run(request);
      begin.run(request);
      return { outcome: 'begun' };
    },
    finishReply: (finished) => {
      if (finished.reply === null) forget.run(finished);
      else keep.run(finished);
    },
  };
}
