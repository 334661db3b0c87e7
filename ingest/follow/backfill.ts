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
 * Indexes everything that is final and missing: several windows at once, newest first, so that the feed is useful at once.
 * Finished windows are checkpointed in groups, always after their rows are acknowledged; a crash repeats at most the windows
 * that were under way, and repeating changes nothing.
 */

export interface BackfillDeps {
  readonly config: Pick<ChainConfig, 'logWindowMax' | 'parallelWindows'>;
  readonly pipeline: Pipeline;
  readonly checkpoints: Pick<Checkpoints, 'saveBackfill'>;
  readonly status: Pick<ChainStatus, 'backfill'>;
  readonly acknowledged: <T>(attempt: () => Promise<T>) => Promise<T>;
  readonly signal: AbortSignal;
  /** What was learned about the size of windows before; absent: nothing. */
  readonly adaptive?: AdaptiveWindow;
}

/**
 * Logs that one window should bring, about two per row. Few, so that an answer has become rows before the garbage collector has
 * moved it once: with 20,000 the worker took a sixth more of the processor. Inserts gather several windows (batch-writer.ts).
 */
const LOGS_PER_WINDOW_TARGET = 4_000;

/** Windows of one reader that are read and not yet written: what an insert gathers comes from them, and they stay in memory. */
const WINDOWS_UNSETTLED_MAX = 6;

/** Towards the end windows become smaller, at most by this, so that no reader stands idle while another has a last large one. */
const SMALLER_AT_THE_END_MAX = 4;

/** The size of windows, at the start of a backfill. */
export function backfillWindow({ logWindowMax }: Pick<ChainConfig, 'logWindowMax'>): AdaptiveWindow {
  return createAdaptiveWindow({ maxBlocks: logWindowMax, targetLogs: LOGS_PER_WINDOW_TARGET });
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
      const elapsedMs = performance.now() - startedAt;
      adaptive.observe({ blocks: to - from + 1, logs: batch.logs.length, elapsedMs });
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
  // Each reader goes on while what it has read is written, up to a bound.
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

/** What one reader has handed on and is not finished yet. */
interface Unsettled {
  add(work: Promise<void>): void;
  /** Waits while it is full; throws what any of it failed with. */
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

/** Finished windows are checkpointed together at most this often: an insert of one row costs what one of a hundred does. */
const CHECKPOINT_EVERY_MS = 500;

interface Finisher {
  /** Takes a window whose rows are acknowledged; its checkpoint follows. */
  add(range: FinishedRange): void;
  /** Resolves when every window taken is checkpointed; rejects when the worker must stop. */
  settled(): Promise<void>;
}

/** A crash before the checkpoint repeats the windows, which changes nothing: readers do not wait for it. */
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
      saving.catch(() => undefined); // `settled` tells
    },
    settled: () => saving ?? Promise.resolve(),
  };
}
