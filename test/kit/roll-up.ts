import type { Writer } from '../../clickhouse/engine/engine.ts';
import { closeSlice } from '../../ingest/rollup/close.ts';
import { formOf, loadDirtySlices } from '../../ingest/rollup/due.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { testLog } from './engine.ts';

/**
 * Computes dirty slices the way the worker does, at once and without its patience: those that begin within [from, below), Unix
 * seconds. Days with more rows than `splitAboveRows` are closed by hours. Returns how many were computed.
 */
export async function rollUp(
  writer: Writer,
  {
    from = 0,
    below = Number.POSITIVE_INFINITY,
    splitAboveRows = 1_000_000,
  }: { readonly from?: number; readonly below?: number; readonly splitAboveRows?: number } = {},
): Promise<number> {
  const deps = { writer, versions: createVersions(0n), log: testLog };
  let closed = 0;
  for (const day of await loadDirtySlices(writer)) {
    if (day.dayStart < from || day.dayStart >= below) continue;
    for (const slice of await formOf(writer, day, { splitAboveRows })) {
      if ((await closeSlice(deps, slice)) === 'closed') closed += 1;
    }
  }
  return closed;
}
