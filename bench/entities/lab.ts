import { statfsSync } from 'node:fs';
import { type BenchEngine, startBenchEngine } from '../support/bench-engine.ts';
import { type MeasuredApi, startMeasuredApi } from '../support/measured-api.ts';
import { timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { seedHistory } from '../support/seed-history.ts';
import type { SyntheticHistory } from '../support/synthetic-rows.ts';
import { type Closing, closeDays } from './close-days.ts';
import { createSwingingClock, type SwingingClock } from './swinging-clock.ts';
import { type BenchWallets, pickWallets } from './wallets.ts';

/** An index of a certain size with its API, every day closed but today. */
export interface Lab {
  readonly engine: BenchEngine;
  readonly api: MeasuredApi;
  readonly clock: SwingingClock;
  readonly wallets: BenchWallets;
  /** Unix seconds: 00:00 UTC of the bench's today, and its noon, which is now. */
  readonly todayStart: number;
  readonly rows: number;
  readonly closing: Closing;
}

const ROWS = 10_000_000;
const ROWS_QUICK = 200_000;
const DAYS = 180;
/** A day costs a fifth of a second to close, however few its rows. */
const DAYS_QUICK = 20;
/** Times that the rows of the lab are in the grown one. */
export const GROWTH = 5;

const DAY_SECONDS = 86_400;
/** Twice what a settlement takes on disk in all tables, because merges hold old and new parts. */
const DISK_BYTES_PER_ROW = 500;

export async function openLab(context: BenchContext): Promise<Lab> {
  const { quick, workspace, say } = context;
  const todayStart = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  const noon = todayStart + DAY_SECONDS / 2;
  const rows = quick ? ROWS_QUICK : ROWS;
  const engine = await startBenchEngine(workspace, 'entities');
  const closing = await addRows(engine, { rows, newestTime: noon, days: daysOf(context) }, context);
  const clock = createSwingingClock(noon);
  const api = await startMeasuredApi(engine.reader, workspace, clock);
  const wallets = await pickWallets(engine.reader);
  say(`the API listens over ${rows} rows`);
  return { engine, api, clock, wallets, todayStart, rows, closing };
}

/** The same days with more rows in each, so every day is dirty and is closed anew. */
export async function growLab(lab: Lab, context: BenchContext): Promise<Lab> {
  const more = lab.rows * (GROWTH - 1);
  const newestTime = lab.todayStart + DAY_SECONDS / 2;
  const history = { rows: more, newestTime, days: daysOf(context), layer: 1 };
  const closing = await addRows(lab.engine, history, context);
  return { ...lab, rows: lab.rows + more, closing };
}

function daysOf({ quick }: BenchContext): number {
  return quick ? DAYS_QUICK : DAYS;
}

async function addRows(
  engine: BenchEngine,
  history: SyntheticHistory,
  { workspace, say }: BenchContext,
): Promise<Closing> {
  const free = statfsSync(workspace.dir);
  const needed = history.rows * DISK_BYTES_PER_ROW;
  if (free.bavail * free.bsize < needed)
    throw new Error(`${workspace.dir} has too little room: ${Math.ceil(needed / 1e9)} GB are needed`);
  const { ms } = await timed(() => seedHistory(engine.writer, history, say));
  say(`${history.rows} rows in ${(ms / 1_000).toFixed(1)} s`);
  return closeDays(engine.writer, history.newestTime - DAY_SECONDS / 2, say);
}
