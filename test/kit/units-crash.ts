import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { NO_UNITS } from '../../core/domain/plan.ts';
import type { LedgerEntry } from '../../src/accounts/unit-store.ts';
import { compiledSources } from './compile-sources.ts';
import { troubleOf, usageTroubleOf } from './unit-books.ts';
import {
  CRASHING_ORGANIZATION,
  type Intent,
  SWEPT_NOTE,
  type UnitsEvent,
  type UnitsOrders,
} from './units-events.ts';
import { waitUntil } from './wait-until.ts';

/** The longest a process works before it is killed. Two hundred calls fit in. */
const WORK_MS_MAX = 80;
/** Every so often a process is killed while it still recovers from the kill before. */
const RECOVERY_MS_MAX = 15;

/** What happened over all kills, for the test to see that it tested something. */
export interface CrashTally {
  answered: number;
  /** Calls that a kill left without an answer: there, or absent. */
  unansweredThere: number;
  unansweredAbsent: number;
  swept: number;
  /** Answered holds that the death of the store took. */
  holdsLost: number;
}

/**
 * Starts the units child again and again and has it killed at random points. Each start finds what the one before left, and that
 * is held against what that one said it did: all that was answered is there, once; an unanswered change is there in full or not at all.
 */
export async function crashUnits(options: {
  readonly store: UnitsOrders['store'];
  readonly kills: number;
  /** Ends the child, and what else the test kills; leaves the store ready for the next child. Says whether the store died. */
  kill(child: ChildProcess, run: number): Promise<{ readonly storeDied: boolean }>;
}): Promise<CrashTally> {
  const compiled = compiledSources();
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-crash-'));
  const tally: CrashTally = { answered: 0, unansweredThere: 0, unansweredAbsent: 0, swept: 0, holdsLost: 0 };
  let known: readonly LedgerEntry[] = [];
  /** Since the last child read the rows: the death that ends a child comes after it did. */
  let storeDied = false;
  let events: readonly UnitsEvent[] = [];
  try {
    for (let run = 0; run <= options.kills; run++) {
      const eventsFile = join(directory, `events-${run}`);
      const works = run < options.kills;
      const orders: UnitsOrders = { store: options.store, eventsFile, name: `p${run}`, works };
      const child = spawn(
        process.execPath,
        [join(compiled, 'test/kit/units-child.js'), JSON.stringify(orders)],
        { stdio: 'ignore' },
      );
      const gone = once(child, 'exit');
      let storeDiesNow = false;
      if (works) {
        await workALittle(eventsFile).catch((error: unknown) => {
          child.kill('SIGKILL');
          throw error;
        });
        storeDiesNow = (await options.kill(child, run)).storeDied;
      }
      await gone;
      const later = readEvents(eventsFile);
      const found = later.find((event) => event.type === 'found');
      // Killed before it could look: nothing was done, the next one looks.
      if (!found) {
        storeDied ||= storeDiesNow;
        continue;
      }
      expect(troubleOf(found.rows, found.balance), `run ${run}`).toBeNull();
      expect(usageTroubleOf(found.rows, found.usage), `run ${run}`).toBeNull();
      // One unit of each is that of the run.
      const captured = found.rows.filter(({ kind, units }) => kind === 'capture' && units > 1);
      const earned = captured.map(({ subject, units }) => `sale:${subject} ${units - 1}`);
      expect([...found.shares].sort(), `run ${run}`).toEqual(earned.sort());
      // All calls of the test are of one day and one key.
      const { spent, held } = found.balance ?? NO_UNITS;
      expect(found.keyUsed, `run ${run}`).toBe(spent + held);
      const kept = storeDied ? rowsThatLast(known, found.rows) : known.length;
      expect(found.rows.slice(0, kept)).toEqual(known.slice(0, kept));
      explain(found.rows.slice(kept), { events, storeDied }, tally);
      const open = found.open.map(({ holdId, units }) => `${holdId} ${units}`).sort();
      expect(open, `run ${run}: ${historyOf(open, found.rows)}`).toEqual(openHolds(found.rows));
      known = found.rows;
      storeDied = storeDiesNow;
      events = later;
    }
    expectAllGivenBack(events);
    return tally;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function workALittle(eventsFile: string): Promise<void> {
  const duringRecovery = Math.random() < 0.25;
  await waitUntil(
    'the child is at work',
    () => readEvents(eventsFile).some(({ type }) => type === (duringRecovery ? 'found' : 'swept')),
    30_000,
  );
  await sleep(Math.random() * (duringRecovery ? RECOVERY_MS_MAX : WORK_MS_MAX));
}

/** The last line may have been cut. */
function readEvents(file: string): readonly UnitsEvent[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  const complete = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return complete.filter((line) => line !== '').map((line) => JSON.parse(line) as UnitsEvent);
}

/** How many of the rows are there still: where the store died, the newest may be gone if they are holds. */
function rowsThatLast(known: readonly LedgerEntry[], found: readonly LedgerEntry[]): number {
  const lasting = known.findLastIndex(({ kind }) => kind !== 'hold') + 1;
  const same = known.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(found[index]));
  return same < 0 ? known.length : Math.max(lasting, same);
}

/**
 * Every new row was meant, every answered change is a row, nothing is there twice. Where the store died, an answered hold may be gone
 * if no change that lasts was answered after it.
 */
function explain(
  rows: readonly LedgerEntry[],
  { events, storeDied }: { readonly events: readonly UnitsEvent[]; readonly storeDied: boolean },
  tally: CrashTally,
): void {
  const rest = new Map(rows.map((row) => [`${row.kind} ${row.subject}`, row]));
  expect(rest.size).toBe(rows.length);
  const answers = new Map(
    events.flatMap((event) => (event.type === 'answer' ? [[event.number, event] as const] : [])),
  );
  const lossFrom = storeDied ? lastLasting(events, answers) : events.length;
  const unanswered: Intent[] = [];
  for (const event of events) {
    if (event.type !== 'intent') continue;
    const answer = answers.get(event.number);
    if (!answer) unanswered.push(event.intent);
    if (!answer?.changed) continue;
    const isThere = takeRow(rest, event.intent);
    const mayBeLost = event.intent.kind === 'hold' && events.indexOf(answer) > lossFrom;
    expect(isThere || mayBeLost, `answered: ${JSON.stringify(event.intent)}`).toBe(true);
    if (isThere) tally.answered += 1;
    else tally.holdsLost += 1;
    if (event.intent.kind === 'overdue') tally.swept += 1;
  }
  for (const intent of unanswered) {
    if (takeRow(rest, intent)) tally.unansweredThere += 1;
    else tally.unansweredAbsent += 1;
  }
  expect([...rest.values()], 'rows without a call').toEqual([]);
}

/** Where the last answered change that lasts was begun: the holds that were answered before it are on disk. */
function lastLasting(
  events: readonly UnitsEvent[],
  answers: ReadonlyMap<number, { readonly changed: boolean }>,
): number {
  return events.findLastIndex(
    (event) =>
      event.type === 'intent' && event.intent.kind !== 'hold' && answers.get(event.number)?.changed === true,
  );
}

/** Finds the row that the intent became, wholly as it was meant, and takes it out. */
function takeRow(rows: Map<string, LedgerEntry>, intent: Intent): boolean {
  const name = `${intent.kind} ${intent.subject}`;
  const row = rows.get(name);
  if (!row) return false;
  expect(row).toMatchObject(intent);
  rows.delete(name);
  return true;
}

/** The holds that the rows leave open, as `id units`. */
function openHolds(rows: readonly LedgerEntry[]): string[] {
  const open = new Map<string, number>();
  for (const { kind, subject, units } of rows) {
    if (kind === 'hold') open.set(subject, units);
    else if (kind !== 'grant') open.delete(subject);
  }
  return [...open].map(([holdId, units]) => `${holdId} ${units}`).sort();
}

/** The rows of the holds that the list of open ones and the rows tell differently, for the reader of the failure. */
function historyOf(open: readonly string[], rows: readonly LedgerEntry[]): string {
  const told = openHolds(rows);
  const differing = [
    ...open.filter((one) => !told.includes(one)),
    ...told.filter((one) => !open.includes(one)),
  ];
  const subjects = new Set(differing.map((one) => one.split(' ')[0]));
  const about = rows.filter(({ subject }) => subjects.has(subject));
  return about
    .map(({ sequence, kind, subject }) => `${sequence} of ${rows.length}: ${kind} ${subject}`)
    .join('; ');
}

/** The last process was not killed: each hold that it found was given back, with a row that says why, and not charged late. */
function expectAllGivenBack(events: readonly UnitsEvent[]): void {
  const found = events.find((event) => event.type === 'found');
  const intents = events.flatMap((event) => (event.type === 'intent' ? [event.intent] : []));
  const outcomes = events.flatMap((event) => (event.type === 'answer' ? [event.outcome] : []));
  expect(events.at(-1)).toEqual({ type: 'swept' });
  expect(
    intents.filter(({ kind }) => kind === 'overdue').map(({ subject, note }) => [subject, note]),
  ).toEqual(found?.open.map(({ holdId }) => [holdId, SWEPT_NOTE]));
  expect(new Set(outcomes)).toEqual(new Set(outcomes.length === 0 ? [] : ['released']));
  expect(found?.open.every(({ organizationId }) => organizationId === CRASHING_ORGANIZATION)).toBe(true);
}
