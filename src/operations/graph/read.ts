import type { Reader } from '../../../clickhouse/engine/engine.ts';
import type { Clock } from '../../../core/clock.ts';
import {
  buildPaymentGraph,
  type PaymentGraph,
  type PaymentPair,
} from '../../../core/domain/payment-graph.ts';
import {
  daysOf,
  GRAPH_ROWS_SCANNED_MAX,
  lastDays,
  readableDays,
  readGraphDays,
  readSpanMark,
} from './days.ts';
import { createKeptGraphs, type KeptGraphs } from './kept.ts';
import type { PairScope } from './payment-pairs.ts';
import { createTurns, type Turns } from './turns.ts';
import { GRAPH_RESOURCE, type GraphRead, readGraphWindow } from './window.ts';

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

/** One wallet's graph reads one range of its log and waits for nobody. */
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
    // Whoever waited finds what the one before it has just read.
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
