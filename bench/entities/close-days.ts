import type { Writer } from '../../clickhouse/engine/engine.ts';
import { closeSlice, mergeRelayerTotals } from '../../ingest/rollup/close.ts';
import { formOf, loadDirtySlices, ROLLUP_LIMITS } from '../../ingest/rollup/due.ts';
import type { Slice } from '../../ingest/rollup/statements.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { benchLog } from '../support/bench-engine.ts';
import { timed } from '../support/quantiles.ts';
import { timeLeft } from '../support/time-left.ts';

/** The cost of closing every day but today. */
export interface Closing {
  readonly slices: number;
  readonly ms: number;
}

const REPORT_EVERY_MS = 5_000;

/** Closes every dirty slice before `todayStart` (Unix seconds), one by one, and merges relayers, as the rollup worker does. */
export async function closeDays(
  writer: Writer,
  todayStart: number,
  say: (line: string) => void,
): Promise<Closing> {
  const dirty = (await loadDirtySlices(writer)).filter(({ dayStart }) => dayStart < todayStart);
  const began = performance.now();
  let reported = began;
  let slices = 0;
  for (const [index, day] of dirty.entries()) {
    for (const slice of await formOf(writer, day, ROLLUP_LIMITS)) {
      await close(writer, slice);
      slices += 1;
    }
    if (performance.now() - reported < REPORT_EVERY_MS) continue;
    reported = performance.now();
    say(`${index + 1} of ${dirty.length} days closed${timeLeft(began, index + 1, dirty.length)}`);
  }
  const merging = await timed(() => mergeRelayerTotals({ writer, versions: createVersions(0n) }));
  const ms = performance.now() - began;
  say(`relayers merged in ${(merging.ms / 1_000).toFixed(1)} s`);
  say(`${dirty.length} days closed in ${(ms / 1_000).toFixed(1)} s`);
  return { slices, ms };
}

/** Milliseconds to compute one slice anew, whether it is dirty or not. */
export async function recompute(writer: Writer, slice: Slice): Promise<number> {
  return (await timed(() => close(writer, slice))).ms;
}

async function close(writer: Writer, slice: Slice): Promise<void> {
  const { signal } = new AbortController();
  const deps = { writer, versions: createVersions(0n), log: benchLog(), signal };
  const outcome = await closeSlice(deps, slice);
  if (outcome !== 'closed') throw new Error(`a slice that only this bench computes is ${outcome}`);
}
