import type { Writer } from '../../clickhouse/engine.ts';
import { closeSlice } from '../../ingest/rollup/close-slice.ts';
import type { Settlement } from '../../src/domain/settlement.ts';
import { testLog } from './engine.ts';
import { nextVer } from './rows.ts';

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

/** Unix seconds of the midnight before. */
export function dayOf(time: number): number {
  return time - (time % DAY_SECONDS);
}

/** Rolls up whole days, as the rollup worker does. */
export async function closeDays(writer: Writer, times: readonly number[]): Promise<void> {
  for (const dayStart of new Set(times.map(dayOf))) await close(writer, dayStart, null);
}

/** Rolls up a day by those of its hours that have rows, as the worker does with very busy days. */
export async function closeHours(writer: Writer, rows: readonly Settlement[]): Promise<void> {
  const hours = new Set(rows.map(({ blockTime }) => blockTime - (blockTime % HOUR_SECONDS)));
  for (const start of hours) await close(writer, dayOf(start), (start % DAY_SECONDS) / HOUR_SECONDS);
}

async function close(writer: Writer, dayStart: number, hour: number | null): Promise<void> {
  const outcome = await closeSlice(
    { writer, versions: { next: nextVer, raise: () => undefined }, log: testLog },
    { dayStart, hour },
  );
  if (outcome !== 'closed') throw new Error(`the slice was not closed: ${outcome}`);
}
