import { setTimeout as sleep } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import { closeSlice } from '../../ingest/rollup/close.ts';
import { testLog } from './engine.ts';
import { nextVer } from './rows.ts';

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;
/** The engine lists a statement for a moment after its answer, so that a slice closed just before can look as if it were being closed. */
const BUSY_TRIES = 50;
const BUSY_WAIT_MS = 20;

/** Unix seconds of the midnight before. */
export function dayOf(time: number): number {
  return time - (time % DAY_SECONDS);
}

/** Rolls up whole days, as the rollup worker does. */
export async function closeDays(writer: Writer, times: readonly number[]): Promise<void> {
  for (const dayStart of new Set(times.map(dayOf))) await close(writer, dayStart, null);
}

/** Rolls up a day by the hours in it that have rows, as the worker does with very busy days. */
export async function closeHours(writer: Writer, rows: readonly Settlement[]): Promise<void> {
  const hours = new Set(rows.map(({ blockTime }) => blockTime - (blockTime % HOUR_SECONDS)));
  for (const start of hours) await close(writer, dayOf(start), (start % DAY_SECONDS) / HOUR_SECONDS);
}

async function close(writer: Writer, dayStart: number, hour: number | null): Promise<void> {
  const deps = { writer, versions: { next: nextVer, raise: () => undefined }, log: testLog };
  for (let tries = 1; ; tries++) {
    const outcome = await closeSlice(deps, { dayStart, hour });
    if (outcome === 'closed') return;
    if (outcome !== 'busy' || tries === BUSY_TRIES) throw new Error(`the slice was not closed: ${outcome}`);
    await sleep(BUSY_WAIT_MS);
  }
}
