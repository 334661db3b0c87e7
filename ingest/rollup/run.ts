import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import type { Versions } from '../write/versions.ts';
import { createWaiting, isClosable, isPartlyClosable, type Waiting } from './choose-slices.ts';
import { closeSlice } from './close-slice.ts';
import { formOf, loadDirtySlices } from './dirty-slices.ts';
import { ROLLUP_LIMITS, type RollupLimits } from './limits.ts';
import { createRollupReport } from './progress.ts';
import { mergeRelayerTotals } from './relayer-totals.ts';
import type { DirtySlice } from './slice.ts';

export interface RollupDeps {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Writes one line for a person; null where nobody watches. */
  readonly terminal?: ((line: string) => void) | null;
  readonly limits?: Partial<RollupLimits>;
  /** What of it: on a cluster slices are closed shard by shard, and totals are merged over all of them. Default: both. */
  readonly part?: 'slices' | 'totals';
  /** Called for every slice that was computed. */
  readonly onClosed?: () => void;
}

/**
 * Keeps the rollup tables up to date until the signal aborts. Any number of workers may run at once, and each may be killed
 * at any moment: what is not recorded as computed is read from the rows instead (src/operations/index-state/rollups.ts).
 */
export async function runRollup(deps: RollupDeps): Promise<void> {
  const limits = { ...ROLLUP_LIMITS, ...deps.limits };
  const { log, signal, clock, part } = deps;
  const waiting = createWaiting(limits);
  const report = createRollupReport(log, deps.terminal ?? null, () => clock.nowMs());
  const totals = createTotals({ ...deps, limits });
  try {
    while (!signal.aborted) {
      const closed = part === 'totals' ? 0 : await pass({ ...deps, limits, waiting, report });
      // Something was done: there may be more, and what became dirty meanwhile may be newer.
      if (closed > 0) continue;
      if (part !== 'slices') await totals.refresh();
      await delay(limits.pollMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Kept behind the closing of slices, which readers wait for more. */
function createTotals({
  writer,
  versions,
  log,
  signal,
  clock,
  limits,
}: RollupDeps & { limits: RollupLimits }) {
  let mergedMs = Number.NEGATIVE_INFINITY;
  return {
    async refresh(): Promise<void> {
      if (clock.nowMs() - mergedMs < limits.totalsEveryMs) return;
      const outcome = await untilAcknowledged(log, signal, () => mergeRelayerTotals({ writer, versions }));
      if (outcome === 'merged') mergedMs = clock.nowMs();
    },
  };
}

interface PassDeps extends Omit<RollupDeps, 'limits' | 'terminal'> {
  readonly limits: RollupLimits;
  readonly waiting: Waiting;
  readonly report: ReturnType<typeof createRollupReport>;
}

/** Computes the newest slices that are due; returns how many. */
async function pass(deps: PassDeps): Promise<number> {
  const { writer, log, signal, waiting, report } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const dirty = await acknowledged(() => loadDirtySlices(writer));
  waiting.keepDays(dirty);
  const { due, left } = await acknowledged(() => chooseDue(deps, dirty));
  let closed = 0;
  for (const slice of due) {
    signal.throwIfAborted();
    const outcome = await acknowledged(() => closeSlice(deps, slice));
    if (outcome !== 'closed') continue; // it is still dirty: a later pass sees to it
    waiting.computed(slice);
    closed += 1;
    deps.onClosed?.();
    report.advanced(1, Math.max(0, left - closed));
  }
  return closed;
}

/**
 * Takes the dirty slices from the newest on until one pass has enough to do. Only these are looked at closely, because a day
 * must be counted before its form is known.
 */
async function chooseDue(
  { writer, clock, limits, waiting }: PassDeps,
  dirty: readonly DirtySlice[],
): Promise<{ readonly due: readonly DirtySlice[]; readonly left: number }> {
  const nowMs = clock.nowMs();
  const due: DirtySlice[] = [];
  for (const slice of dirty.filter((one) => isPartlyClosable(one, nowMs, limits))) {
    if (due.length >= limits.slicesPerPassMax) break;
    const form = await formOf(writer, slice, limits);
    due.push(...form.filter((one) => isClosable(one, nowMs, limits) && waiting.isDue(one, nowMs)));
  }
  const left = dirty.filter((one) => isClosable(one, nowMs, limits)).length;
  return { due: due.slice(0, limits.slicesPerPassMax), left: Math.max(left, due.length) };
}
