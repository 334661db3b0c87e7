import type Database from 'libsql';
import type { QueryRun, UsageRow } from '../../../core/domain/usage.ts';
import type { UsageStore } from '../usage-store.ts';
import { prepare } from './rows.ts';

/** What usage-store.ts asks of the file. */
export function usageReads(db: Database.Database) {
  const usage = prepare<UsageRow>(
    db,
    `SELECT day, key_id AS keyId, operation, lane, calls, units, usd_micros AS usdMicros FROM usage_day
     WHERE owner = :owner AND day BETWEEN :dayFrom AND :dayTo ORDER BY day, key_id, operation, lane`,
  );
  const page = (ofKey: string) =>
    prepare<{ readonly run: string }>(
      db,
      `SELECT run FROM query_run WHERE organization_id = :organizationId ${ofKey}
         AND started_at_ms <= :startedAtMs AND (started_at_ms < :startedAtMs OR id < :id)
       ORDER BY started_at_ms DESC, id DESC LIMIT :limit`,
    );
  const all = page('');
  const ofKey = page('AND key_id = :keyId');
  return {
    usage: (question: Parameters<UsageStore['usage']>[0]): UsageRow[] => usage.all(question),
    queries: ({ organizationId, keyId, before, limit }: Parameters<UsageStore['queries']>[0]): QueryRun[] => {
      const { startedAtMs, id } = before ?? { startedAtMs: Number.MAX_SAFE_INTEGER, id: '' };
      const values = { organizationId, keyId, startedAtMs, id, limit };
      const rows = keyId === null ? all.all(values) : ofKey.all(values);
      return rows.map(({ run }) => JSON.parse(run) as QueryRun); // written from one
    },
  };
}
