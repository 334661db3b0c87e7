import { LRUCache } from 'lru-cache';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import {
  buildPaymentGraph,
  type PaymentGraph,
  type PaymentPair,
} from '../../../core/domain/payment-graph.ts';
import type { Resource } from '../../../core/domain/resources.ts';
import { fail } from '../../../core/errors.ts';
import { ask } from '../ask.ts';
import {
  decodePair,
  GRAPH_RESOURCE,
  type GraphRead,
  largestPairs,
  type PairScope,
  pairRowsMax,
  readGraphWindow,
  settlementsOf,
} from './window.ts';

export interface GraphQuery extends PairScope {
  /** The newest so many settlements, or so many whole days before today. */
  readonly span:
    | { readonly kind: 'window'; readonly rows: number }
    | { readonly kind: 'days'; readonly days: number };
  readonly edgesMax: number;
}

export interface GraphAnswer extends Omit<GraphRead, 'pairs'> {
  readonly graph: PaymentGraph;
}

export interface Graphs {
  /** `reader` is the caller's, so that its statements end when the caller leaves. */
  read(reader: Reader, query: GraphQuery): Promise<GraphAnswer>;
}

/** A graph over all wallets keeps one core busy for seconds; a second one at the same time would be felt by every reader. */
const GLOBAL_AT_ONCE_MAX = 1;
const GLOBAL_WAITING_MAX = 16;
const GLOBAL_WAIT_MAX_MS = 8_000;
const GLOBAL_RETRY_AFTER_SECONDS = 5;

interface GraphDeps {
  readonly clock: Clock;
  readonly rowsScannedMax: number;
  readonly turns: Turns;
  readonly kept: KeptGraphs;
}

export function createGraphs(options: { readonly clock: Clock; readonly rowsScannedMax?: number }): Graphs {
  const { clock, rowsScannedMax = GRAPH_ROWS_SCANNED_MAX } = options;
  const turns = createTurns({
    resource: GRAPH_RESOURCE,
    atOnceMax: GLOBAL_AT_ONCE_MAX,
    waitingMax: GLOBAL_WAITING_MAX,
    waitMaxMs: GLOBAL_WAIT_MAX_MS,
    retryAfterSeconds: GLOBAL_RETRY_AFTER_SECONDS,
  });
  const deps: GraphDeps = { clock, rowsScannedMax, turns, kept: createKeptGraphs() };
  return {
    async read(reader, query) {
      const { span } = query;
      const { pairs, ...facts } =
        span.kind === 'window'
          ? await admitted(deps, query, () =>
              readGraphWindow({ reader, clock }, query, span.rows, query.edgesMax),
            )
          : await readDays(deps, reader, query, span.days);
      return { ...facts, graph: buildPaymentGraph(pairs, query.edgesMax) };
    },
  };
}

/** One wallet's graph reads a single range of its log and takes no turn. */
function admitted<Result>(
  { turns }: GraphDeps,
  { wallet }: PairScope,
  work: () => Promise<Result>,
): Promise<Result> {
  return wallet === undefined ? turns.take(work) : work();
}

async function readDays(
  deps: GraphDeps,
  reader: Reader,
  query: GraphQuery,
  days: number,
): Promise<GraphRead> {
  const { clock, kept } = deps;
  const { edgesMax, wallet, chain, final } = query;
  const asked = lastDays(clock.nowMs(), days);
  const span = await readableDays(reader, query, asked, deps.rowsScannedMax);
  // Read before the rows: a graph may be newer than its mark, never older.
  const atMs = clock.nowMs();
  const mark = await readSpanMark(reader, span);
  const key = JSON.stringify([wallet, chain, final, edgesMax, span]);
  const load = async (): Promise<readonly PaymentPair[]> => {
    // A call that waited for its turn finds what the one before it has just read.
    const known = kept.get(key, mark, atMs);
    if (known !== undefined) return known;
    const pairs = await readGraphDays(reader, query, span, edgesMax);
    kept.put(key, { pairs, mark, atMs, isMarkComplete: wallet === undefined });
    return pairs;
  };
  return {
    pairs: kept.get(key, mark, atMs) ?? (await admitted(deps, query, load)),
    since: span.from,
    until: span.to,
    days: daysOf(span),
    isScanCapped: span.from > asked.from,
  };
}

/**
 * Graphs of whole days in memory, each under a mark of the writes to its days. An insert reaches the rows and the mark in no certain
 * order, so a graph that is read during an insert may lack rows that its mark already counts: it is kept briefly. A graph that is
 * read longer after its mark was first seen than any write can take is complete, and kept until the mark changes.
 */
export interface KeptGraphs {
  /** The pairs, unless they may be out of date at `atMs`. */
  get(key: string, mark: string, atMs: number): readonly PaymentPair[] | undefined;
  put(key: string, read: MarkedRead): void;
}

interface MarkedRead {
  readonly pairs: readonly PaymentPair[];
  readonly mark: string;
  /** When the mark was read, which is before the pairs were. */
  readonly atMs: number;
  /**
   * Whether every write that the pairs depend on is in the mark. Those of one wallet come from its log, which is repaired by itself
   * after a crash: they are always kept briefly.
   */
  readonly isMarkComplete: boolean;
}

/** Some 2 MB each at most. */
const KEPT_MAX = 16;
const UNSETTLED_MAX_AGE_MS = 60_000;
/** Above the bound of every statement that writes settlements (300 s, a batch of a regrade). */
const SETTLED_AFTER_MS = 600_000;

interface Entry extends MarkedRead {
  readonly markSeenMs: number;
}

export function createKeptGraphs(): KeptGraphs {
  const entries = new LRUCache<string, Entry>({ max: KEPT_MAX });
  return {
    get(key, mark, atMs) {
      const entry = entries.peek(key);
      if (entry === undefined || entry.mark !== mark) return undefined;
      const isSettled = entry.isMarkComplete && entry.atMs - entry.markSeenMs >= SETTLED_AFTER_MS;
      if (!isSettled && Math.abs(atMs - entry.atMs) >= UNSETTLED_MAX_AGE_MS) return undefined;
      return entries.get(key)?.pairs;
    },
    put(key, read) {
      const before = entries.peek(key);
      entries.set(key, { ...read, markSeenMs: before?.mark === read.mark ? before.markSeenMs : read.atMs });
    },
  };
}

/** Bounds how many pieces of work run at once; the others wait their turn, in order and for a bounded time. */
interface Turns {
  /** Runs `work` when it is its turn. Throws `upstream_unavailable` naming `resource` when that takes too long. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
}

interface TurnLimits {
  readonly resource: Resource;
  readonly atOnceMax: number;
  readonly waitingMax: number;
  readonly waitMaxMs: number;
  readonly retryAfterSeconds: number;
}

export function createTurns(limits: TurnLimits): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];
  const full = () =>
    fail('upstream_unavailable', {
      detail: `Too many callers want this at once: ${limits.resource}.`,
      resource: limits.resource,
      retryAfterSeconds: limits.retryAfterSeconds,
    });

  const enter = (): Promise<void> => {
    if (running < limits.atOnceMax) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.length >= limits.waitingMax) return Promise.reject(full());
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(full());
      }, limits.waitMaxMs);
      waiting.push(start);
    });
  };
  /** Hands the turn to the next in the queue, without releasing it in between. */
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };

  return {
    async take(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

/** Whole UTC days, from included, to excluded, Unix seconds. */
interface DaySpan {
  readonly from: number;
  readonly to: number;
}

const DAY_SECONDS = 86_400;
/** 0.2 µs a row at 50 M rows on two threads: some four seconds on the one thread that a graph gets. */
export const GRAPH_ROWS_SCANNED_MAX = 10_000_000;
const COUNT_MAX_SECONDS = 5;
/** Below the bound of a request (25 s), waiting for the turn included. */
const GROUP_MAX_SECONDS = 15;
/** A month of a large index has millions of pairs; beyond this they are grouped on disk. */
const GROUP_SPILL_BYTES = 192 * 1024 * 1024;
const GROUP_MEMORY_BYTES_MAX = 640 * 1024 * 1024;

/** The last `days` whole days before the day of `nowMs`. */
export function lastDays(nowMs: number, days: number): DaySpan {
  const today = Math.floor(nowMs / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  return { from: today - days * DAY_SECONDS, to: today };
}

export function daysOf({ from, to }: DaySpan): number {
  return (to - from) / DAY_SECONDS;
}

/**
 * As much of the span as may be read: the newest whole days that hold no more than `rowsMax` stored rows together, at least
 * one. Counted over a column that compresses to nothing; versions count each, because each is read.
 */
export async function readableDays(
  reader: Reader,
  scope: PairScope,
  span: DaySpan,
  rowsMax: number,
): Promise<DaySpan> {
  const isOwn = scope.wallet === undefined ? [] : [sql`wallet = ${text(scope.wallet)}`];
  const table = scope.wallet === undefined ? sql`settlements` : sql`wallet_log`;
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-rows-by-day',
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: daysOf(span),
    sql: sql`SELECT toUnixTimestamp(toStartOfDay(block_time)) AS day, count() FROM ${table}
      WHERE ${allOf([...isOwn, during(span)])} GROUP BY day ORDER BY day DESC`,
  });
  let total = 0;
  for (const [index, row] of rows.entries()) {
    const [day, count] = [integerField(row[0]), integerField(row[1])];
    total += count;
    if (total > rowsMax && index > 0) return { ...span, from: day + DAY_SECONDS };
  }
  return span;
}

/** Changes with every row written within the span, so that a graph kept under it is never stale. */
export async function readSpanMark(reader: Reader, span: DaySpan): Promise<string> {
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-span-mark',
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT concat(toString(groupBitXor(cityHash64(hour, counted))), '/', toString(sum(counted)))
      FROM (SELECT hour, sum(writes) AS counted FROM hour_ver
        WHERE hour >= ${dateTime(span.from)} AND hour < ${dateTime(span.to)} GROUP BY hour)`,
  });
  return textField(rows[0]?.[0]);
}

/** The largest pairs of whole days. One thread, so that point reads keep their latency. */
export async function readGraphDays(
  reader: Reader,
  scope: PairScope,
  span: DaySpan,
  edgesMax: number,
): Promise<PaymentPair[]> {
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-days',
    maxSeconds: GROUP_MAX_SECONDS,
    maxRows: pairRowsMax(edgesMax),
    settings: {
      do_not_merge_across_partitions_select_final: 1,
      max_bytes_before_external_group_by: GROUP_SPILL_BYTES,
      max_memory_usage: GROUP_MEMORY_BYTES_MAX,
    },
    sql: largestPairs(settlementsOf(scope, [during(span)]), edgesMax),
  });
  return rows.map(decodePair);
}

function during({ from, to }: DaySpan): Sql {
  return sql`block_time >= ${dateTime(from)} AND block_time < ${dateTime(to)}`;
}
