import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { isChain } from '../../core/domain/chains.ts';
import { graphPass } from '../../ingest/graphs/pass.ts';
import { rankingPass } from '../../ingest/rankings/pass.ts';
import { verdictPass } from '../../ingest/verdicts/pass.ts';
import { type BenchEngine, benchLog, startBenchEngine } from '../support/bench-engine.ts';
import { type MeasuredApi, startMeasuredApi } from '../support/measured-api.ts';
import { timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { seedHistory } from '../support/seed-history.ts';
import { SYNTHETIC_CHAIN_IDS } from '../support/synthetic-rows.ts';
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
  /** Milliseconds of inserting all rows, with their merges. */
  readonly seedMs: number;
  readonly closing: Closing;
}

const ROWS = 10_000_000;
const ROWS_QUICK = 200_000;
const DAYS = 180;
/** A day costs a fifth of a second to close, however few its rows. */
const DAYS_QUICK = 20;
const DAY_SECONDS = 86_400;
/** Twice what a settlement takes in all tables, because merges hold old and new parts. */
const DISK_BYTES_PER_ROW = 700;
/** Of PostgreSQL, with room for sorting. */
const POSTGRES_BYTES_PER_ROW = 1_600;
/** Above that PostgreSQL, whose indexes then take an hour, is left out. */
export const POSTGRES_ROWS_MAX = 20_000_000;

const DAYS_OF_MONTH = 30;

/** The passes of the worker that the questions of the bench read. */
async function runPasses(writer: Writer, nowMs: number, say: (line: string) => void): Promise<void> {
  const chains = SYNTHETIC_CHAIN_IDS.filter(isChain);
  const ranking = await timed(() => rankingPass(writer, { window: '30d', chains, nowMs }));
  say(`30 days ranked in ${(ranking.ms / 1_000).toFixed(1)} s`);
  const clock = { nowMs: () => nowMs };
  const graph = await timed(() => graphPass({ writer, chains, clock }, DAYS_OF_MONTH));
  say(`the largest pairs of 30 days added up in ${(graph.ms / 1_000).toFixed(1)} s`);
  const { signal } = new AbortController();
  const verdicts = await timed(() => verdictPass({ writer, clock, signal, log: benchLog() }));
  say(`wallets judged in ${(verdicts.ms / 1_000).toFixed(1)} s`);
}

/** What is written beside an index that is kept, because it cannot be read from it. */
interface Index {
  readonly rows: number;
  readonly todayStart: number;
  readonly seedMs: number;
  readonly closing: Closing;
}

/** The index of `--data` where there is one; otherwise a new one. */
async function openIndex(
  context: BenchContext,
): Promise<{ readonly engine: BenchEngine; readonly index: Index }> {
  const { quick, workspace, data, say } = context;
  const rows = context.rows ?? (quick ? ROWS_QUICK : ROWS);
  const facts = data === undefined ? undefined : join(data, 'index.json');
  if (facts !== undefined && existsSync(facts)) {
    const index = JSON.parse(readFileSync(facts, 'utf8')) as Index; // written below
    if (index.rows !== rows) throw new Error(`${data} has ${index.rows} rows: give --rows ${index.rows}`);
    const engine = await startBenchEngine(workspace, 'entities', { dataDir: data });
    say(`${data} has ${rows} rows already`);
    // The last run named a relayer, which left days open.
    await closeDays(engine.writer, index.todayStart, say);
    return { engine, index };
  }
  const todayStart = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  if (data !== undefined) mkdirSync(data, { recursive: true });
  requireRoom(data ?? workspace.dir, rows);
  const engine = await startBenchEngine(workspace, 'entities', { dataDir: data });
  const history = { rows, newestTime: todayStart + DAY_SECONDS / 2, days: quick ? DAYS_QUICK : DAYS };
  const { ms: seedMs } = await timed(() => seedHistory(engine.writer, history, say));
  say(`${rows} rows in ${(seedMs / 1_000).toFixed(1)} s`);
  const closing = await closeDays(engine.writer, todayStart, say);
  const index: Index = { rows, todayStart, seedMs, closing };
  if (facts !== undefined) writeFileSync(facts, JSON.stringify(index));
  return { engine, index };
}

function requireRoom(directory: string, rows: number): void {
  const free = statfsSync(directory);
  const needed = rows * (DISK_BYTES_PER_ROW + (rows > POSTGRES_ROWS_MAX ? 0 : POSTGRES_BYTES_PER_ROW));
  if (free.bavail * free.bsize < needed)
    throw new Error(`${directory} has too little room: ${Math.ceil(needed / 1e9)} GB are needed`);
}

export async function openLab(context: BenchContext): Promise<Lab> {
  const { workspace, say } = context;
  const { engine, index } = await openIndex(context);
  const { todayStart, rows, seedMs, closing } = index;
  const noon = todayStart + DAY_SECONDS / 2;
  await runPasses(engine.writer, noon * 1_000, say);
  const clock = createSwingingClock(noon);
  const api = await startMeasuredApi(engine.reader, workspace, clock);
  const wallets = await pickWallets(engine.reader);
  say(`the API listens over ${rows} rows`);
  return { engine, api, clock, wallets, todayStart, rows, seedMs, closing };
}
