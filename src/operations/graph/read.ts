import { LRUCache } from 'lru-cache';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import type { Clock } from '../../../core/clock.ts';
import { buildPaymentGraph, type PaymentGraph } from '../../../core/domain/payment-graph.ts';
import type { Resource } from '../../../core/domain/resources.ts';
import { fail } from '../../../core/errors.ts';
import type { OperationDeps } from '../deps.ts';
import {
  type DaysRead,
  daysOf,
  GRAPH_ROWS_SCANNED_MAX,
  lastDays,
  readGraphDays,
  readKeptDays,
  readSpanMark,
} from './days.ts';
import { GRAPH_RESOURCE, type GraphRead, type PairScope, readGraphWindow } from './window.ts';

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

export interface GraphDeps extends OperationDeps {
  readonly graphs: Graphs;
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

interface ReadingDeps {
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
  const deps: ReadingDeps = { clock, rowsScannedMax, turns, kept: createKeptGraphs() };
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
  { turns }: ReadingDeps,
  { wallet }: PairScope,
  work: () => Promise<Result>,
): Promise<Result> {
  return wallet === undefined ? turns.take(work) : work();
}

async function readDays(
  deps: ReadingDeps,
  reader: Reader,
  query: GraphQuery,
  days: number,
): Promise<GraphRead> {
  const { clock, kept, rowsScannedMax } = deps;
  const { edgesMax, wallet, chain, final } = query;
  const asked = lastDays(clock.nowMs(), days);
  // Read before the rows, and before the state of the rollups: a graph may be newer than its mark, never older.
  const atMs = clock.nowMs();
  const mark = await readSpanMark(reader, asked);
  const key = JSON.stringify([wallet, chain, final, edgesMax, asked]);
  const keep = (graph: DaysRead): DaysRead => {
    kept.put(key, { graph, mark, atMs, isMarkComplete: wallet === undefined });
    return graph;
  };
  // A call that waited for its turn finds what the one before it has just read.
  const load = async (): Promise<DaysRead> =>
    kept.get(key, mark, atMs) ??
    keep(await readGraphDays(reader, query, { asked, edgesMax, rowsScannedMax }));
  const { pairs, span } =
    kept.get(key, mark, atMs) ??
    (await readKeptDays(reader, query, { asked, edgesMax }).then((graph) => graph && keep(graph))) ??
    (await admitted(deps, query, load));
  return {
    pairs,
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
  /** The graph, unless it may be out of date at `atMs`. */
  get(key: string, mark: string, atMs: number): DaysRead | undefined;
  put(key: string, read: MarkedRead): void;
}

interface MarkedRead {
  readonly graph: DaysRead;
  readonly mark: string;
  /** When the mark was read, which is before the graph was. */
  readonly atMs: number;
  /**
   * Whether every write that the graph depends on is in the mark. The writes of one wallet come from its log, which is repaired by itself
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
      return entries.get(key)?.graph;
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
