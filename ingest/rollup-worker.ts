import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../clickhouse/engine/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config/config.ts';
import type { Window } from '../core/domain/window.ts';
import type { Log } from '../core/log.ts';
import type { Meter } from '../core/meter.ts';
import { formatDuration } from './follow/status-report.ts';
import { graphPasses } from './graphs/pass.ts';
import { repeatPasses } from './passes/repeat.ts';
import { proposalPasses } from './proposals/pass.ts';
import { rankingPasses } from './rankings/follow.ts';
import { ringPasses } from './rings/pass.ts';
import { closeSlice, mergeRelayerTotals } from './rollup/close.ts';
import {
  createWaiting,
  formOf,
  isClosable,
  isPartlyClosable,
  loadDirtySlices,
  ROLLUP_LIMITS,
  type RollupLimits,
  type Waiting,
} from './rollup/due.ts';
import { createMonthCopies } from './rollup/plain-months.ts';
import type { DirtySlice } from './rollup/statements.ts';
import { verdictPasses } from './verdicts/pass.ts';
import { untilAcknowledged } from './write/batch-writer.ts';
import { createVersions, highestVersion, type Versions } from './write/versions.ts';

/**
 * The work of role `rollup`, and in role `all` next to ingest: closes slices, merges totals, copies months for scans, searches for payment rings, judges and
 * ranks wallets until the signal aborts. It has versions of its own, because `gen` is compared with `gen` only. Throws what a retry cannot mend.
 *
 * On a cluster every shard computes the slices whose rows it holds, from its own tables; a shard that does not answer does not block
 * the others.
 */
export async function runRollupWorker(deps: {
  /** Whose chains are served. */
  readonly config: Pick<Config, 'chains'>;
  readonly writer: Writer;
  /** One for the own tables of each shard of a cluster; absent or empty for one engine. Closed at the end. */
  readonly shards?: readonly Writer[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly terminal: ((line: string) => void) | null;
  /** Null or absent where no metrics are served. */
  readonly meter?: Meter | null;
  /** Whether callers read the ranking of a window; absent where this process is not told. */
  readonly isRead?: (window: Window) => boolean;
}): Promise<void> {
  const { config, writer, shards = [], log, signal, clock, meter } = deps;
  const chains = config.chains.map(({ chain }) => chain);
  try {
    const floor = await untilAcknowledged(log, signal, () => highestVersion(writer));
    const versions = createVersions(floor, () => clock.nowMs());
    const onClosed = (): void => meter?.count('rollup_slices_closed_total', {});
    const rollup = { ...deps, versions, onClosed };
    const rollups = shards.map((shard) =>
      runRollup({ ...rollup, writer: shard, wholeIndex: writer, terminal: null, part: 'slices' }),
    );
    const rest = runRollup({ ...rollup, ...(shards.length === 0 ? {} : { part: 'totals' }) });
    await Promise.all([
      ...rollups,
      rest,
      repeatPasses(deps, [
        [ringPasses(deps)],
        [verdictPasses(deps)],
        rankingPasses({ ...deps, chains }),
        [...graphPasses({ ...deps, chains }), ...proposalPasses({ ...deps, chains })],
      ]),
    ]);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.all(shards.map((shard) => shard.close()));
  }
}

export interface RollupDeps {
  readonly writer: Writer;
  /** For tables that are looked up over all shards; default: `writer`. */
  readonly wholeIndex?: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Writes one line of progress to a terminal; null where there is none. */
  readonly terminal?: ((line: string) => void) | null;
  readonly limits?: Partial<RollupLimits>;
  /** What of it: on a cluster slices are closed shard by shard, and totals are merged over all of them. Default: both. */
  readonly part?: 'slices' | 'totals';
  /** Called for every slice that was computed. */
  readonly onClosed?: () => void;
}

/**
 * Keeps the rollup tables up to date until the signal aborts. Any number of workers may run at once, and each may be killed
 * at any moment: readers take slices that are not recorded as computed from the rows instead (src/operations/index-state/rollups.ts).
 */
export async function runRollup(deps: RollupDeps): Promise<void> {
  const limits = { ...ROLLUP_LIMITS, ...deps.limits };
  const { log, signal, clock, part } = deps;
  const waiting = createWaiting(limits);
  const report = createRollupReport(log, deps.terminal ?? null, () => clock.nowMs());
  const totals = createTotals({ ...deps, limits });
  const copies = createMonthCopies({ ...deps, limits });
  try {
    while (!signal.aborted) {
      const closed = part === 'totals' ? 0 : await pass({ ...deps, limits, waiting, report });
      // Something was done: there may be more, and slices that have become dirty since may be newer.
      if (closed > 0) continue;
      // Behind the closing of slices, which readers wait for more.
      if (part !== 'slices') await totals.refresh();
      if (part !== 'totals' && (await untilAcknowledged(log, signal, () => copies.refresh())) !== null)
        continue;
      await delay(limits.pollMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

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
    if (outcome !== 'closed') continue; // it is still dirty: a later pass computes it
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

const REPORT_EVERY_MS = 5_000;
/** Fewer slices than this are routine and not worth a log line. */
const SLICES_WORTH_REPORTING = 10;

export interface RollupProgress {
  readonly done: number;
  readonly left: number;
  readonly percent: number;
  /** At the rate so far; null while there is none. */
  readonly etaSeconds: number | null;
}

export function rollupProgress(done: number, left: number, elapsedMs: number): RollupProgress {
  const percent = done + left === 0 ? 100 : Math.floor((1_000 * done) / (done + left)) / 10;
  return {
    done,
    left,
    percent,
    etaSeconds: done === 0 ? null : Math.ceil((left * elapsedMs) / done / 1_000),
  };
}

/** Reports the progress of a long catch-up, such as the first start over old data. A run ends when nothing is left. */
export function createRollupReport(
  log: Log,
  terminal: ((line: string) => void) | null,
  nowMs: () => number,
): { advanced(closed: number, left: number): void } {
  let run: { readonly sinceMs: number; done: number; reportedMs: number } | null = null;

  const report = (progress: RollupProgress): void => {
    const { done, left, percent, etaSeconds } = progress;
    const eta = etaSeconds === null ? 'unknown' : formatDuration(etaSeconds);
    if (terminal) terminal(`rollups: ${percent.toFixed(1)} % of ${done + left} slices, ETA ${eta}`);
    else log.info(progress, 'rollup progress');
  };

  return {
    advanced(closed, left) {
      const now = nowMs();
      run ??= { sinceMs: now, done: 0, reportedMs: now };
      run.done += closed;
      const isWorthIt = run.done + left >= SLICES_WORTH_REPORTING;
      if (isWorthIt && (left === 0 || now - run.reportedMs >= REPORT_EVERY_MS)) {
        run.reportedMs = now;
        report(rollupProgress(run.done, left, now - run.sinceMs));
      }
      if (left === 0) run = null;
    },
  };
}
