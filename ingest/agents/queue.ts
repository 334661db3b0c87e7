import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import { VERSION_UNITS_PER_MS } from '../../core/domain/settlement.ts';
import type { Log } from '../../core/log.ts';
import { OTHERS_WRITE, type WriteWatch } from '../write/watch-writes.ts';

/** Pace of a queue of files. */
export interface QueueLimits {
  /** Pause after the last batch, before looking for new files. */
  readonly pollMs: number;
  /** Interval of the full scan for files that are due again. */
  readonly fullEveryMs: number;
  /** Pause as a multiple of the time of the scan: a scan that finds nothing must not take a core. */
  readonly restFactor: number;
  readonly filesPerBatch: number;
  readonly filesPerInsert: number;
  /** Fetched rows are written at the latest this long after the previous write, even if an insert is not full. */
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

/** Which rows to scan: all, or only recently written ones, which is cheap. */
export type Look = 'all' | 'recent';

/** Longer than the interval of full scans, so that rows that appear late are not missed. */
const RECENT_MS = 180_000;

/** Lower version bound of `recent`; 0 for all. `ver` follows the clock (ingest/write/versions.ts). */
export function lookedAtSince(look: Look, nowMs: number): bigint {
  return look === 'all' ? 0n : BigInt(nowMs - RECENT_MS) * VERSION_UNITS_PER_MS;
}

export interface FetchedBatch {
  readonly fetched: number;
  /** The number of files due when the batch began. */
  readonly total: number;
  /** How long the scan took. */
  readonly lookedMs: number;
}

interface QueueRun {
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits: QueueLimits;
  /** Default: other processes write too. */
  readonly writes?: WriteWatch;
  /** What makes a file due, apart from the time. */
  readonly tables: readonly string[];
}

/**
 * Processes batches until the signal aborts. Where this process alone writes, it looks for new files after a write and at each full scan,
 * else every `pollMs`.
 */
export async function runQueue(
  what: string,
  { log, signal, limits, writes = OTHERS_WRITE, tables }: QueueRun,
  fetchBatch: (look: Look) => Promise<FetchedBatch>,
): Promise<void> {
  const backlog = reportBacklog(what, log);
  let fullAtMs = 0;
  try {
    while (!signal.aborted) {
      const look: Look = performance.now() >= fullAtMs ? 'all' : 'recent';
      const seen = writes.count(tables);
      const { fetched, total, lookedMs } = await fetchBatch(look);
      const isMore = fetched > 0 && fetched < total;
      if (look === 'all') {
        backlog.report(total, fetched);
        if (!isMore)
          fullAtMs = performance.now() + Math.max(limits.fullEveryMs, lookedMs * limits.restFactor);
      }
      const restMs = look === 'all' ? limits.pollMs : Math.max(limits.pollMs, lookedMs * limits.restFactor);
      await delay(isMore ? 0 : restMs, undefined, { signal });
      if (!isMore) await writes.after(seen, tables, { maxMs: fullAtMs - performance.now(), signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Collects rows and saves them in few inserts, because each insert creates a part. */
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
/** A short queue is not worth a log line. */
const REPORTED_FROM = 1_000;

/** Periodically logs the progress of a queue and its ETA. */
export function reportBacklog(
  what: string,
  log: Log,
  nowMs: () => number = () => performance.now(),
): { report(due: number, done: number): void } {
  let began: { readonly atMs: number; readonly due: number } | null = null;
  let done = 0;
  let reportedMs = 0;
  return {
    /** Called after each batch with the number of files due at its start, and how many of them are done. */
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

/** Selects the documents to fetch next; agent cards and feedback files follow the same rules. */

/** Selects up to `filesMax` documents that are due at `now` (Unix seconds), from rows with a version above `since`. */
export interface DueQuery {
  readonly filesMax: number;
  readonly now: number;
  /** 0 for all rows. */
  readonly since: bigint;
}

export interface DueDocuments<Document> {
  readonly due: readonly Document[];
  /** The number of all due documents, including these. */
  readonly total: number;
}

/** A kind of document. */
export interface DueKind<Document> {
  /** Name of the statements. */
  readonly name: string;
  readonly table: Sql;
  /** The key columns, and those that seed the random order. */
  readonly key: Sql;
  readonly sampleBy: Sql;
  isDue(now: number): Sql;
  /** Columns, FROM and WHERE of the due rows whose keys are in `chosen`, a subquery. */
  select(chosen: Sql, now: number): Sql;
  /** Expressions over `select`: the seed of the random order, the URI, and a substitute for the host of URIs without one. */
  readonly selected: { readonly sampleBy: Sql; readonly uri: Sql; readonly hostless: Sql };
  read(row: readonly unknown[]): Document[];
}

const MAX_SECONDS = 60;
const SETTINGS = { max_threads: 1 } as const;
/** Candidates per batch: enough hosts to choose from. */
const LOOKED_AT_MAX = 2_000;
/** Documents per host in a batch: a host with a hundred thousand documents must not delay the others. */
const PER_HOST_MAX = 20;

/** Due documents in random order, so that every host progresses in proportion. */
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
  // Keys first, so that the URIs of half a million documents are not read for a few hundred. Recent rows are read unmerged and may
  // have been replaced; `select` judges them by their newest version, which avoids merging the whole table.
  const rows = since === 0n ? sql`${table} FINAL WHERE` : sql`${table} WHERE ver > ${uint64(since)} AND`;
  const chosen = sql`(SELECT ${key} FROM ${rows} ${kind.isDue(now)} ORDER BY ${randomOrder(kind.sampleBy)} LIMIT ${uint32(LOOKED_AT_MAX)})`;
  return sql`${kind.select(chosen, now)}
    ORDER BY ${randomOrder(selected.sampleBy)}
    LIMIT ${uint32(PER_HOST_MAX)} BY if(startsWith(lower(${selected.uri}), 'http'), domain(${selected.uri}), toString(${selected.hostless}))
    LIMIT ${uint32(filesMax)}`;
}
