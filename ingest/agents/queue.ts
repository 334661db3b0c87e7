import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import { VERSION_UNITS_PER_MS } from '../../core/domain/settlement.ts';
import type { Log } from '../../core/log.ts';

/** How a queue of files is worked off. */
export interface QueueLimits {
  /** After a batch with nothing left over, until new files are looked for. */
  readonly pollMs: number;
  /** From one look at everything, for what is due again, to the next. */
  readonly fullEveryMs: number;
  /** The queue rests this many times as long as it looked: looking for nothing must not take a core. */
  readonly restFactor: number;
  readonly filesPerBatch: number;
  readonly filesPerInsert: number;
  /** What is fetched is written this long after the last write, also before an insert is full. */
  readonly saveEveryMs: number;
  /** Between two requests to one host. */
  readonly hostPauseMs?: number;
}

export const QUEUE_LIMITS: QueueLimits = {
  pollMs: 1_000,
  fullEveryMs: 60_000,
  restFactor: 20,
  filesPerBatch: 500,
  filesPerInsert: 100,
  saveEveryMs: 2_000,
};

/** Which rows are looked at: all, or those that were written a short while ago, which is cheap. */
export type Look = 'all' | 'recent';

/** Longer than between two looks at everything, so that nothing is missed that is merely slow to appear. */
const RECENT_MS = 180_000;

/** The version that what `recent` looks at is above; 0 for all. `ver` follows the clock (ingest/write/versions.ts). */
export function lookedAtSince(look: Look, nowMs: number): bigint {
  return look === 'all' ? 0n : BigInt(nowMs - RECENT_MS) * VERSION_UNITS_PER_MS;
}

export interface FetchedBatch {
  readonly fetched: number;
  /** All that were due when it began. */
  readonly total: number;
  /** What it took to find them. */
  readonly lookedMs: number;
}

/** Batch after batch until the signal aborts. */
export async function runQueue(
  what: string,
  { log, signal, limits }: { readonly log: Log; readonly signal: AbortSignal; readonly limits: QueueLimits },
  fetchBatch: (look: Look) => Promise<FetchedBatch>,
): Promise<void> {
  const backlog = reportBacklog(what, log);
  let fullAtMs = 0;
  try {
    while (!signal.aborted) {
      const look: Look = performance.now() >= fullAtMs ? 'all' : 'recent';
      const { fetched, total, lookedMs } = await fetchBatch(look);
      const isMore = fetched > 0 && fetched < total;
      if (look === 'all') {
        backlog.report(total, fetched);
        if (!isMore)
          fullAtMs = performance.now() + Math.max(limits.fullEveryMs, lookedMs * limits.restFactor);
      }
      const restMs = look === 'all' ? limits.pollMs : Math.max(limits.pollMs, lookedMs * limits.restFactor);
      await delay(isMore ? 0 : restMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Collects rows and saves them in few inserts: each is a part of its table. */
export function collectRows<T>(
  { filesPerInsert, saveEveryMs }: QueueLimits,
  save: (rows: readonly T[]) => Promise<void>,
): { add(row: T): Promise<void>; finish(): Promise<void>; count(): number } {
  const unsaved: T[] = [];
  let count = 0;
  let savedMs = performance.now();
  const finish = async (): Promise<void> => {
    savedMs = performance.now();
    const rows = unsaved.splice(0);
    if (rows.length > 0) await save(rows);
  };
  return {
    async add(row) {
      count++;
      unsaved.push(row);
      if (unsaved.length >= filesPerInsert || performance.now() - savedMs >= saveEveryMs) await finish();
    },
    finish,
    count: () => count,
  };
}

const REPORT_EVERY_MS = 30_000;
/** A queue that is done in a moment is no news. */
const REPORTED_FROM = 1_000;

/** Says in the log, now and then, how far a queue is and when it will have caught up. */
export function reportBacklog(
  what: string,
  log: Log,
  nowMs: () => number = () => performance.now(),
): { report(due: number, done: number): void } {
  let began: { readonly atMs: number; readonly due: number } | null = null;
  let done = 0;
  let reportedMs = 0;
  return {
    /** After each batch: how many were due when it began, and how many of them are done. */
    report(due, more) {
      const atMs = nowMs();
      if (began === null) {
        if (due < REPORTED_FROM) return;
        began = { atMs, due };
        done = 0;
        reportedMs = atMs;
        log.info({ queue: what, due }, 'files are being fetched');
        return;
      }
      done += more;
      const left = Math.max(0, due - more);
      if (left === 0) {
        log.info({ queue: what, done }, 'files are fetched');
        began = null;
        return;
      }
      if (atMs - reportedMs < REPORT_EVERY_MS) return;
      reportedMs = atMs;
      const perSecond = done / ((atMs - began.atMs) / 1_000);
      const etaSeconds = perSecond > 0 ? Math.ceil(left / perSecond) : null;
      log.info(
        { queue: what, due: left, done, perSecond: Math.round(perSecond * 10) / 10, etaSeconds },
        'files are being fetched',
      );
    },
  };
}

/** Which documents to fetch next: cards of agents and files of feedback are chosen by the same rules. */

/** What is looked for: up to `filesMax` documents that are due at `now` (Unix seconds), in rows of a version above `since`. */
export interface DueQuery {
  readonly filesMax: number;
  readonly now: number;
  /** 0 for all rows. */
  readonly since: bigint;
}

export interface DueDocuments<Document> {
  readonly due: readonly Document[];
  /** All that are due, these among them. */
  readonly total: number;
}

/** Documents of one kind. */
export interface DueKind<Document> {
  /** Of the statements. */
  readonly name: string;
  readonly table: Sql;
  /** Columns that name a row of it, and those that the random order is made of. */
  readonly key: Sql;
  readonly sampleBy: Sql;
  isDue(now: number): Sql;
  /** Columns, FROM and WHERE of the due rows whose keys are in `chosen`, a subquery. */
  select(chosen: Sql, now: number): Sql;
  /** In the words of `select`: what the random order is made of, the URI, and what stands for the host where that has none. */
  readonly selected: { readonly sampleBy: Sql; readonly uri: Sql; readonly hostless: Sql };
  read(row: readonly unknown[]): Document[];
}

const MAX_SECONDS = 60;
const SETTINGS = { max_threads: 1 } as const;
/** Looked at for one batch: enough hosts to choose from. */
const LOOKED_AT_MAX = 2_000;
/** Of one host in a batch: a host with a hundred thousand documents is asked together with the others, not before them. */
const PER_HOST_MAX = 20;

/** Documents that are due, in random order, so that every host gets on in proportion. */
export async function readDueDocuments<Document>(
  writer: Writer,
  kind: DueKind<Document>,
  query: DueQuery,
): Promise<DueDocuments<Document>> {
  const counted = query.since === 0n ? await countDue(writer, kind, query.now) : null;
  if (counted === 0) return { due: [], total: 0 };
  const { rows } = await writer.rows({
    name: `${kind.name}-due`,
    sql: dueSql(kind, query),
    maxSeconds: MAX_SECONDS,
    maxRows: query.filesMax,
    settings: SETTINGS,
  });
  return { due: rows.flatMap(kind.read), total: counted ?? rows.length };
}

async function countDue<Document>(
  writer: Writer,
  { name, table, isDue }: DueKind<Document>,
  now: number,
): Promise<number> {
  const { rows } = await writer.rows({
    name: `${name}-due-count`,
    sql: sql`SELECT count() FROM ${table} FINAL WHERE ${isDue(now)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: SETTINGS,
  });
  return Number(rows[0]?.[0] ?? 0);
}

function dueSql<Document>(kind: DueKind<Document>, { filesMax, now, since }: DueQuery): Sql {
  const { table, key, selected } = kind;
  const randomOrder = (by: Sql): Sql => sql`cityHash64(${by}, ${uint32(now)})`;
  // Keys first: the URIs of half a million documents are not read for a few hundred. Of what was written lately, rows that were
  // replaced since may be among them; they are judged by their newest version in `select`, and no merge of the whole is waited for.
  const rows = since === 0n ? sql`${table} FINAL WHERE` : sql`${table} WHERE ver > ${uint64(since)} AND`;
  const chosen = sql`(SELECT ${key} FROM ${rows} ${kind.isDue(now)} ORDER BY ${randomOrder(kind.sampleBy)} LIMIT ${uint32(LOOKED_AT_MAX)})`;
  return sql`${kind.select(chosen, now)}
    ORDER BY ${randomOrder(selected.sampleBy)}
    LIMIT ${uint32(PER_HOST_MAX)} BY if(startsWith(lower(${selected.uri}), 'http'), domain(${selected.uri}), toString(${selected.hostless}))
    LIMIT ${uint32(filesMax)}`;
}
