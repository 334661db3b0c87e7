import type Database from 'libsql';
import { dayOf, QUERIES_KEPT_MS, type QueryRun, type UsageRow } from '../../../core/domain/usage.ts';
import { QUERIES_FORGOTTEN_PER_RUN, QUERIES_KEPT_MAX, type UsageStore, usageOwner } from '../usage-store.ts';
import { type AllAtOnce, prepare } from './rows.ts';

export type UsageWrites = AllAtOnce<UsageStore, 'count' | 'addQueries' | 'forgetQueries'>;

/** Counts of usage and runs of SQL: everything of usage-store.ts that changes the file. */
export function usageWrites(db: Database.Database): UsageWrites {
  return { count: counter(db), ...queryWrites(db) };
}

function counter(db: Database.Database): UsageWrites['count'] {
  const add = usageAdder(db);
  return (batch) => {
    for (const row of batch) add(row);
  };
}

function usageAdder(db: Database.Database): (row: UsageRow & { readonly owner: string }) => void {
  const add = prepare(
    db,
    `INSERT INTO usage_day (owner, day, key_id, operation, lane, calls, units, usd_micros)
     VALUES (:owner, :day, :keyId, :operation, :lane, :calls, :units, :usdMicros)
     ON CONFLICT (owner, day, key_id, operation, lane)
     DO UPDATE SET calls = calls + :calls, units = units + :units, usd_micros = usd_micros + :usdMicros`,
  );
  return (row) => void add.run({ ...row });
}

/** The usage of a capture, or of a share that was earned, in the transaction that books it. */
export type CountUnits = (capture: {
  readonly organizationId: string;
  readonly keyId?: string | null;
  readonly operation: string;
  readonly lane: 'units' | 'earned';
  readonly units: number;
  readonly atMs: number;
}) => void;

export function unitCounter(db: Database.Database): CountUnits {
  const add = usageAdder(db);
  return ({ organizationId, keyId, operation, lane, units, atMs }) =>
    add({
      owner: usageOwner({ organizationId }),
      day: dayOf(atMs),
      keyId: keyId ?? '',
      operation,
      lane,
      calls: 1,
      units,
      usdMicros: 0,
    });
}

/** What a key may still hold on a day: read and changed in the transaction of the hold. */
export interface KeyBudgets {
  /** Null where the key has no budget, or room for the units. */
  refusal(hold: KeyUnits): { readonly unitsPerDay: number; readonly used: number } | null;
  take(hold: KeyUnits): void;
  giveBack(hold: KeyUnits): void;
}

interface KeyUnits {
  readonly keyId?: string | null;
  readonly heldAtMs: number;
  readonly units: number;
}

interface BudgetRow {
  readonly unitsPerDay: number | null;
  readonly usedDay: number;
  readonly usedUnits: number;
}

export function keyBudgets(db: Database.Database): KeyBudgets {
  const budget = prepare<BudgetRow>(
    db,
    `SELECT units_per_day AS unitsPerDay, used_day AS usedDay, used_units AS usedUnits
     FROM api_key WHERE id = :keyId`,
  );
  const take = prepare(
    db,
    `UPDATE api_key SET used_units = iif(used_day < :day, 0, used_units) + :units, used_day = max(used_day, :day)
     WHERE id = :keyId`,
  );
  const giveBack = prepare(
    db,
    'UPDATE api_key SET used_units = max(0, used_units - :units) WHERE id = :keyId AND used_day = :day',
  );
  const isKeyless = ({ keyId }: KeyUnits): boolean => keyId === undefined || keyId === null;
  const values = ({ keyId, heldAtMs, units }: KeyUnits) => ({ keyId, units, day: dayOf(heldAtMs) });
  return {
    refusal: (hold) => {
      const row = isKeyless(hold) ? undefined : budget.one({ keyId: hold.keyId });
      if (row === undefined || row.unitsPerDay === null) return null;
      const used = row.usedDay < dayOf(hold.heldAtMs) ? 0 : row.usedUnits;
      return used + hold.units > row.unitsPerDay ? { unitsPerDay: row.unitsPerDay, used } : null;
    },
    take: (hold) => {
      if (!isKeyless(hold)) take.run(values(hold));
    },
    giveBack: (hold) => {
      if (!isKeyless(hold) && hold.units > 0) giveBack.run(values(hold));
    },
  };
}

/** `key_id` of `query_forgotten`, which no id of a key can be. */
export function forgottenOf(keyId: string | null): string {
  return keyId === null ? 'all' : `key:${keyId}`;
}

function queryWrites(db: Database.Database): Pick<UsageWrites, 'addQueries' | 'forgetQueries'> {
  const forgotten = prepare<object>(
    db,
    `SELECT 1 FROM query_forgotten
     WHERE organization_id = :organizationId AND key_id IN ('all', :ofKey) AND up_to_ms >= :startedAtMs`,
  );
  const insert = prepare(
    db,
    `INSERT INTO query_run (organization_id, id, key_id, started_at_ms, run)
     VALUES (:organizationId, :id, :keyId, :startedAtMs, :run) ON CONFLICT DO NOTHING`,
  );
  const forgetOld = prepare(
    db,
    `DELETE FROM query_run WHERE (organization_id, id) IN
       (SELECT organization_id, id FROM query_run WHERE started_at_ms <= :startedAtMs - ${QUERIES_KEPT_MS}
        ORDER BY started_at_ms LIMIT ${QUERIES_FORGOTTEN_PER_RUN})`,
  );
  const forgetBeyond = prepare(
    db,
    `DELETE FROM query_run WHERE organization_id = :organizationId AND (organization_id, id) IN
       (SELECT organization_id, id FROM query_run WHERE organization_id = :organizationId
        ORDER BY started_at_ms DESC, id DESC LIMIT ${QUERIES_FORGOTTEN_PER_RUN} OFFSET ${QUERIES_KEPT_MAX})`,
  );
  const remember = prepare(
    db,
    `INSERT INTO query_forgotten (organization_id, key_id, up_to_ms) VALUES (:organizationId, :ofKey, :atMs)
     ON CONFLICT (organization_id, key_id) DO UPDATE SET up_to_ms = max(up_to_ms, :atMs)`,
  );
  const forgetOne = prepare(
    db,
    `DELETE FROM query_run
     WHERE organization_id = :organizationId AND id = :id AND (:keyId IS NULL OR key_id = :keyId)`,
  );
  const forgetAll = prepare(
    db,
    `DELETE FROM query_run
     WHERE organization_id = :organizationId AND started_at_ms <= :atMs AND (:keyId IS NULL OR key_id = :keyId)`,
  );
  const addOne = (run: QueryRun): void => {
    const { organizationId, id, keyId, startedAtMs } = run;
    if (forgotten.one({ organizationId, ofKey: forgottenOf(keyId), startedAtMs })) return;
    forgetOld.run({ startedAtMs });
    if (insert.run({ organizationId, id, keyId, startedAtMs, run: JSON.stringify(run) }) === 1)
      forgetBeyond.run({ organizationId });
  };
  return {
    addQueries: (runs) => {
      for (const run of runs) addOne(run);
    },
    forgetQueries: ({ organizationId, keyId, id, atMs }) => {
      if (id !== null) return forgetOne.run({ organizationId, keyId, id });
      remember.run({ organizationId, ofKey: forgottenOf(keyId), atMs });
      return forgetAll.run({ organizationId, keyId, atMs });
    },
  };
}
