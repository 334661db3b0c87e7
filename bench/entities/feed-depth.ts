import type { Reader } from '../../clickhouse/engine/engine.ts';
import { sql, uint64 } from '../../clickhouse/engine/sql.ts';
import { type Chain, isChain } from '../../core/domain/chains.ts';
import { mintCursor } from '../../core/domain/cursor.ts';
import type { Position } from '../../core/domain/settlement.ts';
import type { Figure } from '../support/figure.ts';
import type { Cost, MeasuredApi } from '../support/measured-api.ts';
import { costFigures, costsOfRounds } from '../support/page-costs.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Lab } from './lab.ts';

/** Where the feed is entered, and the page that must come back. */
interface DeepPlace {
  readonly cursor: string;
  readonly expected: readonly string[];
}

interface FlowsBody {
  readonly flows: readonly { readonly tx_hash: string; readonly log_index: number; readonly chain: string }[];
}

const LIMIT = 50;
/** Below what a process keeps in memory; the newest page is a question of its own. */
const NEAR = 20_000;
const DEEP = 1_000_000;
/** Of the rows there are, where there are few. */
const DEEP_SHARE_MAX = 0.6;
const PLACES = 5;
/** Apart by more than a granule, so that the pages do not share what they read. */
const PLACES_APART = 37_011;
const PLACES_APART_QUICK = 3_011;
const ROUNDS = 100;
const ROUNDS_QUICK = 20;
const RATIO_GOAL = 2;
const ROWS_READ_GOAL = 50_000;
const TRUTH_SECONDS_MAX = 300;

/** Pages of /flows some way down against pages far down, taken in turn, so that both see the same machine. */
export async function measureFeedDepth(
  { quick, say }: Pick<BenchContext, 'quick' | 'say'>,
  { api, engine, rows }: Pick<Lab, 'api' | 'engine' | 'rows'>,
): Promise<Figure[]> {
  const places = async (from: number): Promise<DeepPlace[]> => {
    const found: DeepPlace[] = [];
    for (let index = 0; index < PLACES; index++)
      found.push(
        await findPlace(engine.reader, api, from + index * (quick ? PLACES_APART_QUICK : PLACES_APART)),
      );
    return found;
  };
  const depth = Math.min(DEEP, Math.floor(rows * DEEP_SHARE_MAX));
  say(`feed: pages from ${NEAR} and from ${depth} rows down`);
  const readPage =
    (from: readonly DeepPlace[]) =>
    async (round: number): Promise<Cost> => {
      const place = from[round % PLACES];
      if (place === undefined) throw new Error('no place to read from');
      const page = await api.get<FlowsBody>(`/v0/flows?limit=${LIMIT}&before=${place.cursor}`);
      requireSame(page.body.flows.map(keyOf), place.expected);
      return page.cost;
    };
  // Warm-up: one look at each place.
  const rounds = { warmUp: PLACES, counted: quick ? ROUNDS_QUICK : ROUNDS };
  const requests = [readPage(await places(NEAR)), readPage(await places(depth))];
  const [near = [], deep = []] = await costsOfRounds(requests, rounds);
  // The granules of a small index hold many seconds.
  const rowsReadGoal = quick ? undefined : ROWS_READ_GOAL;
  const ratio = medianMs(deep) / medianMs(near);
  return [
    ...costFigures('flows-near-page', near, rowsReadGoal),
    ...costFigures('flows-deep-page', deep, rowsReadGoal),
    {
      name: 'flows-deep-over-near',
      value: ratio,
      unit: 'x',
      goal: `<=${RATIO_GOAL}`,
      ok: ratio <= RATIO_GOAL,
    },
  ];
}

function medianMs(costs: readonly Cost[]): number {
  return median(costs.map(({ totalMs }) => totalMs));
}

/** By counting, the slow way: the row `depth` rows below the top, and the page after it. */
async function findPlace(reader: Reader, api: MeasuredApi, depth: number): Promise<DeepPlace> {
  const { rows } = await reader.rows({
    name: 'bench-truth',
    maxSeconds: TRUTH_SECONDS_MAX,
    maxRows: LIMIT + 1,
    sql: sql`SELECT toUnixTimestamp(block_time), chain, block_number, log_index, concat('0x', lower(hex(tx_hash)))
      FROM (SELECT * FROM settlements FINAL) WHERE del = 0
      ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC
      LIMIT ${uint64(LIMIT + 1)} OFFSET ${uint64(depth - 1)}`,
  });
  const [anchor, ...page] = rows.map(([time, chain, block, logIndex, txHash]) => ({
    position: {
      blockTime: Number(time),
      chain: readChain(chain),
      blockNumber: Number(block),
      logIndex: Number(logIndex),
    },
    txHash: String(txHash),
  }));
  if (anchor === undefined || page.length !== LIMIT)
    throw new Error(`there are not ${depth} rows to go down`);
  return {
    cursor: mintCursor(api.cursorKeys, 'listFlows', anchor.position satisfies Position),
    expected: page.map(({ position, txHash }) =>
      keyOf({ tx_hash: txHash, log_index: position.logIndex, chain: position.chain }),
    ),
  };
}

function readChain(value: unknown): Chain {
  const text = String(value);
  if (!isChain(text)) throw new Error(`not a chain: ${text}`);
  return text;
}

function keyOf(row: FlowsBody['flows'][number]): string {
  return `${row.chain} ${row.tx_hash} ${row.log_index}`;
}

/** A fast wrong page is no result. */
function requireSame(served: readonly string[], expected: readonly string[]): void {
  const at = expected.findIndex((key, index) => served[index] !== key);
  if (at >= 0 || served.length !== expected.length) {
    throw new Error(
      `a deep page is wrong at row ${at}: served ${served[at]}, the table says ${expected[at]}`,
    );
  }
}
