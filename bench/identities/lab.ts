import { type Sql, sql, text } from '../../clickhouse/engine/sql.ts';
import { createVersions, type Versions } from '../../ingest/write/versions.ts';
import { closeDays } from '../entities/close-days.ts';
import { type BenchEngine, startBenchEngine } from '../support/bench-engine.ts';
import { type MeasuredApi, startMeasuredApi } from '../support/measured-api.ts';
import { timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { seedHistory } from '../support/seed-history.ts';
import { timeLeft } from '../support/time-left.ts';
import { createLeapingClock, type LeapingClock } from './leaping-clock.ts';
import { type Agents, insertCards, insertEvents } from './synthetic-agents.ts';
import { type Feedback, type FeedbackSlice, insertFeedback } from './synthetic-feedback.ts';
import { insertOffers, insertSources } from './synthetic-offers.ts';

/** An index with agents, feedback and listings as ingest writes them; nothing is derived yet. */
export interface IdentityLab {
  readonly engine: BenchEngine;
  readonly api: MeasuredApi;
  readonly clock: LeapingClock;
  readonly versions: Versions;
  readonly size: Size;
  readonly agents: Agents;
  readonly feedback: Feedback;
  /** Unix seconds: the noon that is now. */
  readonly noon: number;
}

export interface Size {
  readonly agents: number;
  readonly feedback: number;
  readonly resources: number;
  readonly settlements: number;
  readonly settlementDays: number;
}

const FULL: Size = {
  agents: 500_000,
  feedback: 5_000_000,
  resources: 100_000,
  settlements: 1_000_000,
  settlementDays: 60,
};
const QUICK: Size = {
  agents: 20_000,
  feedback: 200_000,
  resources: 5_000,
  settlements: 50_000,
  settlementDays: 4,
};

const DAY_SECONDS = 86_400;
/** The first month agents register, in the other five they are rated. */
const REGISTRATION_DAYS = 30;
const FEEDBACK_DAYS = 150;
/** What follows a feedback comes within half an hour, and is not in the future. */
const SLACK_SECONDS = 3_600;
const ROWS_PER_INSERT = 250_000;
/** As seedHistory: a window that was repeated after a crash, and a reorg. */
const AGAIN_EVERY = 200;
const TOMBSTONE_EVERY = 499;
const STATEMENT_SECONDS_MAX = 600;

export async function openLab({ quick, workspace, say }: BenchContext): Promise<IdentityLab> {
  const size = quick ? QUICK : FULL;
  const noon = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS + DAY_SECONDS / 2;
  const firstTime = noon - (REGISTRATION_DAYS + FEEDBACK_DAYS) * DAY_SECONDS;
  const agents: Agents = { agents: size.agents, firstTime, seconds: REGISTRATION_DAYS * DAY_SECONDS };
  const feedback: Feedback = {
    agents: size.agents,
    rows: size.feedback,
    blocksFrom: firstTime,
    firstTime: firstTime + agents.seconds,
    seconds: FEEDBACK_DAYS * DAY_SECONDS - SLACK_SECONDS,
  };
  const engine = await startBenchEngine(workspace, 'identities', { queryLog: true });
  const versions = createVersions(0n);
  const seed: Seed = { engine, versions, say };
  await seedHistory(
    engine.writer,
    { rows: size.settlements, newestTime: noon, days: size.settlementDays },
    say,
  );
  await closeDays(engine.writer, noon - DAY_SECONDS / 2, say);
  await seedAgents(seed, agents);
  await seedFeedback(seed, feedback);
  await seedOffers(seed, size.resources, noon);
  const clock = createLeapingClock(noon);
  const api = await startMeasuredApi(engine.reader, workspace, clock);
  return { engine, api, clock, versions, size, agents, feedback, noon };
}

interface Seed {
  readonly engine: BenchEngine;
  readonly versions: Versions;
  readonly say: (line: string) => void;
}

async function seedAgents(seed: Seed, agents: Agents): Promise<void> {
  await inSlices(agents.agents, 'agents', seed, async (slice) => {
    for (const statement of insertEvents(agents, slice)) await run(seed, statement);
    await run(seed, insertCards(agents, slice));
  });
}

async function seedFeedback(seed: Seed, feedback: Feedback): Promise<void> {
  const insert = async (slice: FeedbackSlice): Promise<void> => {
    for (const statement of insertFeedback(feedback, slice)) await run(seed, statement);
  };
  await inSlices(feedback.rows, 'ratings', seed, insert);
  const all = { from: 0, count: feedback.rows };
  await insert({ ...all, every: AGAIN_EVERY, ver: seed.versions.next() });
  await insert({ ...all, every: TOMBSTONE_EVERY, tombstone: true, ver: seed.versions.next() });
}

async function seedOffers(seed: Seed, resources: number, time: number): Promise<void> {
  await inSlices(resources, 'resources', seed, async (slice) => {
    for (const statement of insertOffers({ ...slice, time })) await run(seed, statement);
  });
  await run(seed, insertSources(time, seed.versions.next()));
}

async function inSlices(
  rows: number,
  what: string,
  { versions, say }: Seed,
  insert: (slice: { readonly from: number; readonly count: number; readonly ver: bigint }) => Promise<void>,
): Promise<void> {
  const began = performance.now();
  for (let from = 0; from < rows; from += ROWS_PER_INSERT) {
    const count = Math.min(ROWS_PER_INSERT, rows - from);
    await insert({ from, count, ver: versions.next() });
    say(`${from + count} of ${rows} ${what}${timeLeft(began, from + count, rows)}`);
  }
}

function run({ engine }: Seed, statement: Sql): Promise<void> {
  return engine.writer.run({ name: 'bench-seed', sql: statement, maxSeconds: STATEMENT_SECONDS_MAX });
}

/** One row of a statement that only the bench asks. */
export async function oneRow(
  { engine }: Pick<IdentityLab, 'engine'>,
  statement: Sql,
): Promise<readonly unknown[]> {
  const { rows } = await engine.writer.rows({
    name: 'bench-look',
    sql: statement,
    maxSeconds: STATEMENT_SECONDS_MAX,
    maxRows: 1,
  });
  return rows[0] ?? [];
}

/** The use of our statements, from the engine's own log. */
export interface Used {
  readonly rowsRead: number;
  /** CPU time in milliseconds, which a busy machine does not stretch. */
  readonly cpuMs: number;
}

/** Runs `work` and adds up what its statements whose names begin with `prefix` used. */
export async function usedBy<T>(
  lab: Pick<IdentityLab, 'engine'>,
  prefix: string,
  work: () => Promise<T>,
): Promise<Used & { readonly ms: number; readonly result: T }> {
  const [from] = await oneRow(lab, sql`SELECT toString(now64(6))`);
  const { ms, result } = await timed(work);
  await lab.engine.writer.run({
    name: 'bench-flush',
    sql: sql`SYSTEM FLUSH LOGS query_log`,
    maxSeconds: STATEMENT_SECONDS_MAX,
  });
  const [rows, micros] = await oneRow(
    lab,
    sql`SELECT sum(read_rows), sum(ProfileEvents['OSCPUVirtualTimeMicroseconds']) FROM system.query_log
      WHERE type = 'QueryFinish' AND startsWith(log_comment, ${text(prefix)}) AND query_start_time_microseconds >= toDateTime64(${text(String(from))}, 6)`,
  );
  return { ms, result, rowsRead: Number(rows), cpuMs: Number(micros) / 1_000 };
}
