import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { graphPass } from '../../ingest/graphs/pass.ts';
import { rankingPass } from '../../ingest/rankings/pass.ts';
import { verdictPass } from '../../ingest/verdicts/pass.ts';
import { type MeasuredApi, startMeasuredApi } from '../lab/api.ts';
import { benchLog, startBenchEngine } from '../lab/engine.ts';
import {
  type BenchIndex,
  type BenchWallets,
  closeDays,
  DAY_SECONDS,
  openIndex,
  pickWallets,
  startOfToday,
} from '../lab/history.ts';
import { seconds, timed } from '../lab/measure.ts';
import { createMovingClock, type MovingClock } from '../lab/questions.ts';
import { type BenchContext, requireRoom } from '../lab/run.ts';
import { SYNTHETIC_CHAIN_IDS } from '../lab/synthetic-rows.ts';

/** An index of a certain size with its API, every day closed but today. */
export interface Lab extends BenchIndex {
  readonly api: MeasuredApi;
  readonly clock: MovingClock;
  readonly wallets: BenchWallets;
  /** Unix seconds: 00:00 UTC of the bench's today, whose noon is now: half a day is always open. */
  readonly todayStart: number;
}

const ROWS = { full: 10_000_000, quick: 200_000 };
/** A day costs a fifth of a second to close, however few its rows. */
const DAYS = { full: 180, quick: 20 };
/** Twice what a settlement takes in all tables, because merges hold old and new parts. */
const DISK_BYTES_PER_ROW = 700;
/** Of PostgreSQL, with room for sorting. */
const POSTGRES_BYTES_PER_ROW = 1_600;
/** Above that PostgreSQL, whose indexes then take an hour, is left out. */
export const POSTGRES_ROWS_MAX = 20_000_000;
const DAYS_OF_MONTH = 30;
const SWING_MS = 3_600_000;

type Index = BenchIndex & Pick<Lab, 'todayStart'>;

export async function openLab(context: BenchContext): Promise<Lab> {
  const index = await openOrMake(context);
  const { engine, rows, todayStart } = index;
  const noon = todayStart + DAY_SECONDS / 2;
  await runPasses(index, noon * 1_000, context.say);
  const clock = createMovingClock(noon, SWING_MS, true);
  const api = await startMeasuredApi(context.workspace, engine.reader, clock);
  const wallets = await pickWallets(engine);
  context.say(`the API listens over ${rows} rows`);
  return { ...index, api, clock, wallets };
}

/** The index of `--data` where there is one; otherwise a new one. */
async function openOrMake(context: BenchContext): Promise<Index> {
  const { sized, workspace, data, say } = context;
  const rows = context.rows ?? sized(ROWS);
  // What cannot be read from an index that is kept is written beside it.
  const facts = data === undefined ? undefined : join(data, 'index.json');
  const options = data === undefined ? {} : { dataDir: data };
  if (facts !== undefined && existsSync(facts)) {
    const kept = JSON.parse(readFileSync(facts, 'utf8')) as Omit<Index, 'engine'>; // written below
    if (kept.rows !== rows) throw new Error(`${data} has ${kept.rows} rows: give --rows ${kept.rows}`);
    const engine = await startBenchEngine(workspace, 'index', options);
    say(`${data} has ${rows} rows already`);
    // The last run named a relayer, which left days open.
    await closeDays(engine, kept.todayStart, say);
    return { ...kept, engine };
  }
  if (data !== undefined) mkdirSync(data, { recursive: true });
  const bytesPerRow = DISK_BYTES_PER_ROW + (rows > POSTGRES_ROWS_MAX ? 0 : POSTGRES_BYTES_PER_ROW);
  requireRoom(data ?? workspace.dir, rows * bytesPerRow);
  const todayStart = startOfToday();
  const history = { rows, newestTime: todayStart + DAY_SECONDS / 2, days: sized(DAYS) };
  const { engine, ...made } = await openIndex(context, history, options);
  if (facts !== undefined) writeFileSync(facts, JSON.stringify({ ...made, todayStart }));
  return { ...made, engine, todayStart };
}

/** The passes of the worker that the questions of the bench read. */
async function runPasses({ engine }: Index, nowMs: number, say: BenchContext['say']): Promise<void> {
  const { signal } = new AbortController();
  const chains = SYNTHETIC_CHAIN_IDS;
  const deps = { writer: engine.writer, chains, clock: { nowMs: () => nowMs }, signal, log: benchLog() };
  const passes = {
    '30 days ranked': () => rankingPass(engine.writer, { window: '30d', chains, nowMs }),
    'the largest pairs of 30 days added up': () => graphPass(deps, DAYS_OF_MONTH),
    'wallets judged': () => verdictPass(deps),
  };
  for (const [what, pass] of Object.entries<() => Promise<unknown>>(passes))
    say(`${what} in ${seconds((await timed(pass)).ms)}`);
}
