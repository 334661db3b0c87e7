import type { Sql } from '../../clickhouse/engine/sql.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { type MeasuredApi, startMeasuredApi } from '../lab/api.ts';
import { type BenchEngine, run } from '../lab/engine.ts';
import { AGAIN_EVERY, DAY_SECONDS, openIndex, startOfToday, TOMBSTONE_EVERY } from '../lab/history.ts';
import { timeLeft } from '../lab/measure.ts';
import {
  createMovingClock,
  type Effort,
  FACTS_OF_THE_INDEX,
  type MovingClock,
  NOBODY,
  type Peer,
  type Question,
} from '../lab/questions.ts';
import type { BenchContext } from '../lab/run.ts';
import type { RowSlice } from '../lab/synthetic-rows.ts';
import {
  type Agents,
  type Feedback,
  insertCards,
  insertEvents,
  insertFeedback,
  insertOffers,
  insertSources,
} from './synthetic.ts';

/** An index with agents, feedback and listings as ingest writes them. */
export interface IdentityLab {
  readonly engine: BenchEngine;
  readonly api: MeasuredApi;
  readonly clock: MovingClock;
  readonly size: Size;
  readonly feedback: Feedback;
  /** Unix seconds: the noon that is now. */
  readonly noon: number;
}

interface Size {
  readonly agents: number;
  readonly feedback: number;
  readonly resources: number;
  readonly rows: number;
  /** Of the rows. */
  readonly days: number;
}

const SIZE = {
  full: { agents: 500_000, feedback: 5_000_000, resources: 100_000, rows: 1_000_000, days: 60 },
  quick: { agents: 20_000, feedback: 200_000, resources: 5_000, rows: 50_000, days: 4 },
};
/** The first month agents register, in the other five they are rated. */
const REGISTRATION_DAYS = 30;
const FEEDBACK_DAYS = 150;
/** What follows a feedback comes within half an hour, and is not in the future. */
const SLACK_SECONDS = 3_600;
const ROWS_PER_INSERT = 250_000;
/** Longer than any route caches, and so little that a whole bench takes it a few weeks ahead. */
const LEAP_MS = 300_000;

export async function openLab(context: BenchContext): Promise<IdentityLab> {
  const size = context.sized(SIZE);
  const noon = startOfToday() + DAY_SECONDS / 2;
  const { rows, days } = size;
  const { engine } = await openIndex(context, { rows, days, newestTime: noon }, { queryLog: true });
  const feedback = await seed(engine, { size, noon }, context.say);
  const clock = createMovingClock(noon, LEAP_MS, false);
  const api = await startMeasuredApi(context.workspace, engine.reader, clock);
  return { engine, api, clock, size, feedback, noon };
}

type Made = Pick<IdentityLab, 'size' | 'noon'>;

async function seed(engine: BenchEngine, { size, noon }: Made, say: BenchContext['say']): Promise<Feedback> {
  const versions = createVersions(0n);
  const runAll = async (statements: readonly Sql[]): Promise<void> => {
    for (const statement of statements) await run(engine, statement);
  };
  const inSlices = async (rows: number, what: string, insert: (slice: RowSlice) => Sql[]) => {
    const began = performance.now();
    for (let from = 0; from < rows; from += ROWS_PER_INSERT) {
      const count = Math.min(ROWS_PER_INSERT, rows - from);
      await runAll(insert({ from, count, ver: versions.next() }));
      say(`${from + count} of ${rows} ${what}${timeLeft(began, from + count, rows)}`);
    }
  };
  const firstTime = noon - (REGISTRATION_DAYS + FEEDBACK_DAYS) * DAY_SECONDS;
  const agents: Agents = { agents: size.agents, firstTime, seconds: REGISTRATION_DAYS * DAY_SECONDS };
  await inSlices(size.agents, 'agents', (slice) => [
    ...insertEvents(agents, slice),
    insertCards(agents, slice),
  ]);
  const feedback: Feedback = {
    ...{ agents: size.agents, rows: size.feedback, blocksFrom: firstTime },
    firstTime: firstTime + agents.seconds,
    seconds: FEEDBACK_DAYS * DAY_SECONDS - SLACK_SECONDS,
  };
  await inSlices(size.feedback, 'ratings', (slice) => insertFeedback(feedback, slice));
  // As with settlements: a window that was repeated after a crash, and a reorg.
  const all = { from: 0, count: size.feedback };
  await runAll(insertFeedback(feedback, { ...all, every: AGAIN_EVERY, ver: versions.next() }));
  const gone = { ...all, every: TOMBSTONE_EVERY, tombstone: true, ver: versions.next() };
  await runAll(insertFeedback(feedback, gone));
  await inSlices(size.resources, 'resources', (slice) => insertOffers(noon, slice));
  await run(engine, insertSources(noon, versions.next()));
  return feedback;
}

const FULL: Effort = { rounds: 60, peerRounds: 3, asksMax: 1, msMax: 5_000, keptWarmUp: 0 };
export const EFFORT = { full: FULL, quick: { ...FULL, rounds: 10, peerRounds: 2, msMax: 800 } };
/** An empty page also says how many agents there are, counted at most every five seconds. */
const FACTS_OF_EMPTY_PAGES = `/v0/agents?owner=${NOBODY}`;

/** One route, compared with one statement that reads everything there is to read and uses no skip index: the keys of the page in order. */
export function route(
  name: string,
  path: string,
  { lines, scan, findsNothing = false, ...more }: Ask & Partial<Omit<Question<Sql>, 'asks'>>,
): Question<Sql> {
  const before = [FACTS_OF_THE_INDEX, ...(findsNothing ? [FACTS_OF_EMPTY_PAGES] : [])];
  return { goals: {}, ...more, name, findsNothing, before, asks: [{ path, lines, peer: scan }] };
}

interface Ask {
  readonly lines: (body: unknown) => readonly string[];
  /** Where there is none, anything that was found will do. */
  readonly scan?: Sql;
}

export function scanPeer({ engine }: IdentityLab): Peer<Sql> {
  return {
    name: 'scan',
    async ask(scan) {
      const { rows, elapsedMs, readRows } = await engine.reader.rows({
        ...{ name: 'bench-scan', sql: scan, maxSeconds: 120, maxRows: 1_000 },
        settings: { use_skip_indexes: 0, optimize_read_in_order: 0 },
      });
      return { ms: elapsedMs, rowsRead: readRows, lines: rows.map(([key]) => String(key)) };
    },
  };
}
