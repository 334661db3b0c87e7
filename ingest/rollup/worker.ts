import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { runRings } from '../rings/run-rings.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { createVersions, highestVersion } from '../write/versions.ts';
import { runRollup } from './run.ts';

/**
 * What role `rollup` does, and role `all` beside ingest: versions of its own, because `gen` is compared with `gen` only, then
 * the worker until the signal aborts, and the search for payment rings beside it. Anything that no waiting can mend is thrown.
 *
 * On a cluster every shard computes the slices whose rows it holds, from its own tables; a shard that does not answer keeps none of the others
 * from it.
 */
export async function runRollupWorker(deps: {
  readonly writer: Writer;
  /** One for the own tables of each shard of a cluster; absent or empty for one engine. Closed at the end. */
  readonly shards?: readonly Writer[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly terminal: ((line: string) => void) | null;
  readonly onClosed?: () => void;
}): Promise<void> {
  const { writer, shards = [], log, signal, clock } = deps;
  try {
    const floor = await untilAcknowledged(log, signal, () => highestVersion(writer));
    const versions = createVersions(floor, () => clock.nowMs());
    const rollups = shards.map((shard) =>
      runRollup({ ...deps, writer: shard, terminal: null, versions, part: 'slices' }),
    );
    const rest = runRollup({ ...deps, versions, ...(shards.length === 0 ? {} : { part: 'totals' }) });
    await Promise.all([...rollups, rest, runRings(deps)]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.all(shards.map((shard) => shard.close()));
  }
}
