import {
  dayStartMs,
  QUERIES_KEPT_MS,
  type QueryRun,
  USAGE_LANES,
  type UsageRow,
} from '../../../core/domain/usage.ts';
import { QUERIES_KEPT_MAX, type UsageStore } from '../usage-store.ts';
import { numberOf, oneOf, type RedisConnection } from './connection.ts';
import type { Names } from './layout.ts';

/** One hash of counts for each account and month, so that a question about some weeks does not read years. */
export function redisUsage(redis: RedisConnection, names: Names): UsageStore {
  return {
    count: async (batch) => {
      const fields = batch.flatMap((row) => fieldsOfRow(row, names.usage(row.owner, monthOf(row.day))));
      if (fields.length === 0) return;
      const keys = fields.map(({ name }) => name);
      await redis.script(
        'countUsage',
        keys,
        fields.flatMap(({ field, added }) => [field, added]),
      );
    },
    usage: async ({ owner, dayFrom, dayTo }) => {
      const months = monthsOf(dayFrom, dayTo).map((month) => names.usage(owner, month));
      const read = (name: string) => redis.run((client) => client.hgetall(name));
      const rows = (await Promise.all(months.map(read))).flatMap(rowsOfHash);
      return rows.filter(({ day }) => day >= dayFrom && day <= dayTo).sort(inOrder);
    },
    addQueries: async (runs) => {
      await Promise.all(runs.map((run) => addQuery(redis, names, run)));
    },
    queries: (page) => readQueries(redis, names, page),
    forgetQueries: async ({ organizationId, keyId, id, atMs }) => {
      const all = names.queries(organizationId, null);
      const list = names.queries(organizationId, keyId);
      const entry = id === null ? '' : await entryOfId(redis, list, id);
      if (entry === null) return 0;
      const values = [entry, `(${stamp(atMs + 1)}`, String(atMs), forgottenField(keyId)];
      const starts = [names.query(organizationId, ''), names.queries(organizationId, '')];
      const keys = [all, list, names.queriesForgotten(organizationId)];
      return numberOf(await redis.script('forgetQueries', keys, [...values, ...starts]));
    },
  };
}

/** `2026-11` */
export function monthOf(day: number): string {
  return new Date(dayStartMs(day)).toISOString().slice(0, 7);
}

function monthsOf(dayFrom: number, dayTo: number): string[] {
  const months = new Set<string>();
  for (let day = dayFrom; day <= dayTo; day++) months.add(monthOf(day));
  return [...months];
}

/** `<day>/<key>/<lane>/<operation>/<figure>`; only the operation may hold a slash. */
function fieldsOfRow({ day, keyId, lane, operation, calls, units, usdMicros }: UsageRow, name: string) {
  const start = `${day}/${encodeURIComponent(keyId)}/${lane}/${operation}`;
  return Object.entries({ calls, units, usdMicros })
    .filter(([, added]) => added !== 0)
    .map(([figure, added]) => ({ name, field: `${start}/${figure}`, added }));
}

const FIELD = /^(-?\d+)\/([^/]*)\/([^/]*)\/(.*)\/(calls|units|usdMicros)$/s;

function rowsOfHash(hash: Readonly<Record<string, string>>): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const [field, value] of Object.entries(hash)) {
    const [, day = '', key = '', lane, operation = '', figure = ''] = FIELD.exec(field) ?? [];
    const name = field.slice(0, field.lastIndexOf('/'));
    const row = rows.get(name) ?? {
      day: numberOf(day),
      keyId: decodeURIComponent(key),
      operation,
      lane: oneOf(USAGE_LANES, lane),
      calls: 0,
      units: 0,
      usdMicros: 0,
    };
    rows.set(name, { ...row, [figure]: numberOf(value) });
  }
  return [...rows.values()];
}

function inOrder(a: UsageRow, b: UsageRow): number {
  return (
    a.day - b.day || byBytes(a.keyId, b.keyId) || byBytes(a.operation, b.operation) || byBytes(a.lane, b.lane)
  );
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function addQuery(redis: RedisConnection, names: Names, run: QueryRun): Promise<void> {
  const { organizationId, keyId, startedAtMs } = run;
  const entry = entryOf(run);
  const keys = [
    names.queries(organizationId, null),
    names.queries(organizationId, keyId),
    names.query(organizationId, entry),
    names.queriesForgotten(organizationId),
  ];
  // The key before the run: which list it is in, for the script that forgets it.
  const kept = `${encodeURIComponent(keyId)}\n${JSON.stringify(run)}`;
  const values = [entry, startedAtMs, forgottenField(keyId), kept, QUERIES_KEPT_MS, QUERIES_KEPT_MAX];
  const starts = [names.query(organizationId, ''), names.queries(organizationId, '')];
  await redis.script('addQuery', keys, [...values, ...starts]);
}

async function readQueries(
  redis: RedisConnection,
  names: Names,
  { organizationId, keyId, before, limit }: Parameters<UsageStore['queries']>[0],
): Promise<QueryRun[]> {
  const list = names.queries(organizationId, keyId);
  const runs: QueryRun[] = [];
  let from = before === null ? '+' : `(${entryOf(before)}`;
  // The text of an entry can have expired before it.
  while (runs.length < limit) {
    const asked = limit - runs.length;
    const max = from;
    const entries = await redis.run((client) => client.zrevrangebylex(list, max, '-', 'LIMIT', 0, asked));
    if (entries.length > 0) {
      const texts = await redis.run((client) =>
        client.mget(entries.map((entry) => names.query(organizationId, entry))),
      );
      for (const text of texts)
        if (text !== null) runs.push(JSON.parse(text.slice(text.indexOf('\n') + 1)) as QueryRun);
    }
    if (entries.length < asked) return runs;
    from = `(${entries.at(-1)}`;
  }
  return runs;
}

const STAMP_DIGITS = 16;

/** Sorts by its bytes like the number. */
function stamp(atMs: number): string {
  return String(atMs).padStart(STAMP_DIGITS, '0');
}

function entryOf({ startedAtMs, id }: Pick<QueryRun, 'startedAtMs' | 'id'>): string {
  return `${stamp(startedAtMs)}:${id}`;
}

/** Null for an id that is not on the list, which has at most QUERIES_KEPT_MAX entries. */
async function entryOfId(redis: RedisConnection, list: string, id: string): Promise<string | null> {
  const entries = await redis.run((client) => client.zrangebylex(list, '-', '+'));
  return entries.find((entry) => entry.slice(STAMP_DIGITS + 1) === id) ?? null;
}

function forgottenField(keyId: string | null): string {
  return keyId === null ? 'all' : `key:${keyId}`;
}
