import type { Sql } from '../../clickhouse/engine/sql.ts';
import type { Figure } from '../support/figure.ts';
import type { Cost } from '../support/measured-api.ts';
import { costFigures } from '../support/page-costs.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { IdentityLab } from './lab.ts';

/** One request, and the answer that it must get. */
export interface Ask {
  readonly path: string;
  /** The keys of the page in order, one column, by a statement that reads everything there is to read and uses no skip index. */
  readonly scan?: Sql;
}

export interface RouteQuestion {
  /** kebab-case; begins the names of its figures. */
  readonly name: string;
  /** Asked in turn. */
  readonly asks: readonly Ask[];
  /** The keys of an answer in order, spelled as the scan spells them; where nothing is compared, anything that was found. */
  keysOf(body: unknown): readonly string[];
  /** Expects an empty answer. */
  readonly findsNothing?: boolean;
  /** The API may answer from its caches; otherwise its clock leaps ahead before each request. */
  readonly remembers?: boolean;
  readonly goals: {
    readonly rowsReadBelow?: number;
    readonly p50BelowMs?: number;
    /** Of the rows that the scan reads, in percent. */
    readonly readOfScanPercent?: number;
    /** How many times the median of the scan that of our engine's part must be. */
    readonly fasterThanScan?: number;
  };
}

interface Effort {
  readonly rounds: number;
  readonly scanRounds: number;
  /** Rounds of a question end here, whichever side is slow, once it has been asked a few times. */
  readonly msMax: number;
}

const FULL: Effort = { rounds: 60, scanRounds: 3, msMax: 5_000 };
const QUICK: Effort = { rounds: 10, scanRounds: 2, msMax: 800 };
const ROUNDS_MIN = 5;
const SCAN_SECONDS_MAX = 120;
const SCAN_ROWS_MAX = 1_000;
/** Has what all requests of a second share loaded: freshness, names of catalogues. */
const NOBODY = `0x${'0'.repeat(36)}dead`;
const FACTS_OF_THE_INDEX = `/v0/entities/${NOBODY}/settlements?limit=1`;
/** An empty page also says how many agents there are, counted at most every five seconds. */
const FACTS_OF_EMPTY_PAGES = `/v0/agents?owner=${NOBODY}`;

interface Scanned {
  readonly ms: number;
  readonly rowsRead: number;
  readonly keys: readonly string[];
}

/** Compares every answer with its scan first, which also warms up both; then times ours. `judged`: false where the data is too small. */
export async function askRoute(
  lab: IdentityLab,
  question: RouteQuestion,
  { quick, say }: Pick<BenchContext, 'quick' | 'say'>,
  effort: Effort = quick ? QUICK : FULL,
): Promise<Figure[]> {
  const { asks, name } = question;
  const scans: Scanned[] = [];
  for (const ask of asks) {
    const scanned = await scan(lab, ask);
    const { body } = await lab.api.get(ask.path);
    requireAnswer(ask, question.keysOf(body), scanned?.keys, question.findsNothing === true);
    if (scanned !== undefined) scans.push(scanned);
  }
  const costs: Cost[] = [];
  const began = performance.now();
  const isOver = (): boolean => costs.length >= ROUNDS_MIN && performance.now() - began > effort.msMax;
  for (let round = 0; round < effort.rounds && !isOver(); round++) {
    const ask = asks[round % asks.length];
    if (ask === undefined) throw new Error(`${name}: nothing to ask`);
    if (question.remembers !== true) lab.clock.leap();
    await lab.api.get(FACTS_OF_THE_INDEX);
    if (question.findsNothing === true) await lab.api.get(FACTS_OF_EMPTY_PAGES);
    costs.push((await lab.api.get(ask.path)).cost);
    const again = round < effort.scanRounds ? await scan(lab, ask) : undefined;
    if (again !== undefined) scans.push(again);
  }
  say(`${name}: ${median(costs.map(({ totalMs }) => totalMs)).toFixed(1)} ms`);
  return figuresOf(question, costs, scans, !quick);
}

async function scan({ engine }: IdentityLab, ask: Ask): Promise<Scanned | undefined> {
  if (ask.scan === undefined) return undefined;
  const { rows, elapsedMs, readRows } = await engine.reader.rows({
    name: 'bench-scan',
    sql: ask.scan,
    maxSeconds: SCAN_SECONDS_MAX,
    maxRows: SCAN_ROWS_MAX,
    settings: { use_skip_indexes: 0, optimize_read_in_order: 0 },
  });
  return { ms: elapsedMs, rowsRead: readRows, keys: rows.map(([key]) => String(key)) };
}

/** A fast wrong page is no result, and an empty one measures nothing. */
function requireAnswer(
  { path }: Ask,
  served: readonly string[],
  expected: readonly string[] | undefined,
  findsNothing: boolean,
): void {
  if ((served.length === 0) !== findsNothing) throw new Error(`${path} answered ${served.length} rows`);
  if (expected === undefined) return;
  const at = Array.from({ length: Math.max(served.length, expected.length) }, (_, index) => index).find(
    (index) => served[index] !== expected[index],
  );
  if (at !== undefined)
    throw new Error(`${path} is wrong at row ${at}: served ${served[at]}, a scan says ${expected[at]}`);
}

function figuresOf(
  { name, goals }: RouteQuestion,
  costs: readonly Cost[],
  scans: readonly Scanned[],
  judged: boolean,
): Figure[] {
  const engineMs = median(costs.map((cost) => cost.engineMs));
  const rowsRead = Math.max(...costs.map((cost) => cost.rowsRead));
  const [p50, ...others] = costFigures(name, costs, judged ? goals.rowsReadBelow : undefined);
  const figures: Figure[] =
    p50 === undefined ? [] : [limited(p50, '<', judged ? goals.p50BelowMs : undefined), ...others];
  if (scans.length === 0) return figures;
  const scanMs = median(scans.map(({ ms }) => ms));
  const scanRows = Math.min(...scans.map((one) => one.rowsRead));
  const shown = (suffix: string, value: number, unit: string): Figure => ({
    name: `${name}-${suffix}`,
    value,
    unit,
    goal: '-',
    ok: true,
  });
  return [
    ...figures,
    shown('scan-p50', scanMs, 'ms'),
    limited(
      shown('read-of-scan', (rowsRead / scanRows) * 100, '%'),
      '<',
      judged ? goals.readOfScanPercent : undefined,
    ),
    limited(
      shown('engine-faster-than-scan', scanMs / engineMs, 'x'),
      '>=',
      judged ? goals.fasterThanScan : undefined,
    ),
  ];
}

function limited(figure: Figure, is: '<' | '>=', limit: number | undefined): Figure {
  if (limit === undefined) return figure;
  const ok = is === '<' ? figure.value < limit : figure.value >= limit;
  return { ...figure, goal: `${is}${limit}`, ok };
}
