import { setTimeout as delay } from 'node:timers/promises';
import type { ChainConfig } from '../../core/config/chains.ts';
import { type AdaptiveWindow, createAdaptiveWindow } from '../chain/adaptive-window.ts';
import {
  type BlockRange,
  type Checkpoints,
  countBlocks,
  createWindows,
  type FinishedRange,
} from '../write/checkpoints.ts';
import type { ChainStatus } from './chain-status.ts';
import type { Pipeline, ReadBatch } from './pipeline.ts';

/**
 * Indexes all final missing blocks: several windows at once, newest first, so that the feed is useful at once. Finished windows are
 * checkpointed in groups, always after their rows are acknowledged; a crash repeats at most the unfinished windows, and repeating is
 * idempotent.
 */

export interface BackfillDeps {
  readonly config: Pick<ChainConfig, 'logWindowMax' | 'parallelWindows'>;
  readonly pipeline: Pipeline;
  readonly checkpoints: Pick<Checkpoints, 'saveBackfill'>;
  readonly status: Pick<ChainStatus, 'backfill'>;
  readonly acknowledged: <T>(attempt: () => Promise<T>) => Promise<T>;
  readonly signal: AbortSignal;
  /** The window size learned so far, if any. */
  readonly adaptive?: AdaptiveWindow;
}

/**
 * Target `size` of a window: logs of an EVM chain, about two per row. Few, so that an answer becomes rows before the garbage collector moves it: with 20,000
 * the worker took a sixth more CPU time. Inserts combine several windows (batch-writer.ts).
 */
const LOGS_PER_WINDOW_TARGET = 4_000;

/** Windows per reader that are read but not yet written: inserts combine them, and they stay in memory. */
const WINDOWS_UNSETTLED_MAX = 6;

/** Towards the end windows shrink, at most by this factor, so that no reader is idle while another has a last large one. */
const SMALLER_AT_THE_END_MAX = 4;

/** From a Portal, whose public limit is two requests a second: windows are larger, and a second of its stream is worth the memory. */
const LOGS_PER_PORTAL_WINDOW_TARGET = 20_000;

/** The size of windows, at the start of a backfill. */
export function backfillWindow({
  logWindowMax,
  portal = null,
}: Pick<ChainConfig, 'logWindowMax'> & Partial<Pick<ChainConfig, 'portal'>>): AdaptiveWindow {
  const targetLogs = portal === null ? LOGS_PER_WINDOW_TARGET : LOGS_PER_PORTAL_WINDOW_TARGET;
  return createAdaptiveWindow({ maxBlocks: logWindowMax, targetLogs });
}

/** Resolves when nothing is missing any more. */
export async function backfill(
  deps: BackfillDeps,
  missing: readonly BlockRange[],
  alreadyDone: number,
): Promise<void> {
  const { config, pipeline, status, signal } = deps;
  const total = alreadyDone + countBlocks(missing);
  let done = alreadyDone;
  status.backfill(done, total);
  if (missing.length === 0) return;
  const windows = createWindows(missing);
  const { adaptive = backfillWindow(config) } = deps;
  const finisher = createFinisher(deps, (ranges) => {
    done += countBlocks(ranges);
    status.backfill(done, total);
  });

  const take = (): BlockRange | undefined => {
    const size = adaptive.size();
    const share = Math.ceil(windows.left() / config.parallelWindows);
    return windows.takeNewest(Math.min(size, Math.max(share, Math.ceil(size / SMALLER_AT_THE_END_MAX))));
  };
  let reading = 0;
  const read = async ({ from, to }: BlockRange): Promise<ReadBatch> => {
    const startedAt = performance.now();
    reading++;
    try {
      const batch = await pipeline.read(from, to);
      const elapsedMs = performance.now() - startedAt - (batch.waitedMs ?? 0);
      adaptive.observe({ blocks: to - from + 1, logs: batch.size, elapsedMs });
      return batch;
    } finally {
      reading--;
    }
  };
  const isMoreComing = (): boolean => reading > 0 || windows.left() > 0;
  const finish = async (storing: Promise<void>, range: FinishedRange): Promise<void> => {
    await storing;
    finisher.add(range);
  };
  /** Keeps nothing of the batch while its rows wait. */
  const settle = (window: BlockRange, batch: ReadBatch): Promise<void> => {
    const last = batch.blocks.at(-1);
    if (last?.number !== window.to)
      throw new Error(`source answered a window without its last block ${window.to}`);
    return finish(pipeline.store(batch, isMoreComing), { ...window, endHash: last.hash });
  };
  // Each reader continues while its windows are written, up to a bound.
  const work = async (): Promise<void> => {
    const unsettled = createUnsettled();
    for (let window = take(); window !== undefined; window = take()) {
      signal.throwIfAborted();
      await unsettled.room();
      unsettled.add(settle(window, await read(window)));
    }
    await unsettled.all();
  };
  await Promise.all(Array.from({ length: config.parallelWindows }, work));
  await finisher.settled();
}

/** The unfinished windows of one reader. */
interface Unsettled {
  add(work: Promise<void>): void;
  /** Waits while it is full; throws the error of any of its windows. */
  room(): Promise<void>;
  all(): Promise<unknown>;
}

function createUnsettled(): Unsettled {
  const open: Promise<void>[] = [];
  const failures: unknown[] = [];
  return {
    add(work) {
      open.push(work);
      work.catch((error: unknown) => failures.push(error));
    },
    async room() {
      if (failures.length > 0) throw failures[0];
      if (open.length >= WINDOWS_UNSETTLED_MAX) await open.shift();
    },
    all: () => Promise.all(open),
  };
}

/** Minimum interval of checkpoints, which combine finished windows: an insert of one row costs as much as one of a hundred. */
const CHECKPOINT_EVERY_MS = 500;

interface Finisher {
  /** Takes a window whose rows are acknowledged; its checkpoint follows. */
  add(range: FinishedRange): void;
  /** Resolves when every window taken is checkpointed; rejects when the worker must stop. */
  settled(): Promise<void>;
}

/** Readers do not wait for checkpoints: a crash before one repeats the windows, which is idempotent. */
function createFinisher(
  { checkpoints, acknowledged, signal }: BackfillDeps,
  onSaved: (ranges: readonly FinishedRange[]) => void,
): Finisher {
  let waiting: FinishedRange[] = [];
  let saving: Promise<void> | null = null;
  const save = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await acknowledged(() => checkpoints.saveBackfill(group));
      onSaved(group);
      if (waiting.length > 0) await delay(CHECKPOINT_EVERY_MS, undefined, { signal });
    }
    saving = null;
  };
  return {
    add(range) {
      waiting.push(range);
      saving ??= save();
      saving.catch(() => undefined); // `settled` reports it
    },
    settled: () => saving ?? Promise.resolve(),
  };
}
