import type { Writer } from '../../clickhouse/engine.ts';
import type { Clock } from '../../src/clock.ts';
import type { Log } from '../../src/log.ts';
import { highestVersion } from '../highest-version.ts';
import { runRings } from '../rings/run-rings.ts';
import { untilAcknowledged } from '../until-acknowledged.ts';
import { createVersions } from '../versions.ts';
import { runRollup } from './run-rollup.ts';

/**
 * What role `rollup` does, and role `all` beside ingest: versions of its own, because `gen` is compared with `gen` only, then
 * the worker until the signal aborts, and the search for payment rings beside it. Anything that no waiting can mend is thrown.
 */
export async function runRollupWorker(deps: {
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly terminal: ((line: string) => void) | null;
}): Promise<void> {
  const { writer, log, signal, clock } = deps;
  try {
    const floor = await untilAcknowledged(log, signal, () => highestVersion(writer));
    const versions = createVersions(floor, () => clock.nowMs());
    await Promise.all([runRollup({ ...deps, versions }), runRings(deps)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
