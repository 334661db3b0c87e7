import type { ChainConfig } from '../src/config.ts';
import type { ChainStatus } from './chain-status.ts';
import type { Checkpoints, FinishedRange } from './checkpoints.ts';
import { type BlockRange, countBlocks, createWindows } from './coverage.ts';
import type { Pipeline } from './pipeline.ts';
import { createAdaptiveWindow } from './sources/adaptive-window.ts';
import type { BlockBatch } from './sources/block-source.ts';

/**
 * Indexes everything that is final and missing: several windows at once, newest first, so that the feed is useful at once.
 * Finished windows are checkpointed in groups, always after their rows are acknowledged; a crash repeats at most the windows
 * that were under way, and repeating changes nothing.
 */

export interface BackfillDeps {
  readonly config: ChainConfig;
  readonly pipeline: Pipeline;
  readonly checkpoints: Checkpoints;
  readonly status: ChainStatus;
  readonly acknowledged: <T>(attempt: () => Promise<T>) => Promise<T>;
  readonly signal: AbortSignal;
}

/** Rows that one window should yield: enough for a good insert, little enough to hold several in memory. */
const ROWS_PER_WINDOW_TARGET = 5_000;

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
  const adaptive = createAdaptiveWindow({
    maxBlocks: config.logWindowMax,
    targetLogs: ROWS_PER_WINDOW_TARGET,
  });
  const finish = createFinisher(deps);

  const read = async ({ from, to }: BlockRange): Promise<BlockBatch> => {
    const startedAt = performance.now();
    const batch = await pipeline.read(from, to);
    const elapsedMs = performance.now() - startedAt;
    adaptive.observe({ blocks: to - from + 1, logs: batch.logs.length, elapsedMs });
    return batch;
  };
  const settle = async (window: BlockRange, batch: BlockBatch): Promise<void> => {
    const last = batch.blocks.at(-1);
    if (last?.number !== window.to)
      throw new Error(`source answered a window without its last block ${window.to}`);
    await pipeline.store(batch);
    await finish({ ...window, endHash: last.hash });
    done += window.to - window.from + 1;
    status.backfill(done, total);
  };
  // Each worker reads its next window while the one before is written: two windows of each are in memory, never more.
  const work = async (): Promise<void> => {
    let settling: Promise<void> = Promise.resolve();
    for (
      let window = windows.takeNewest(adaptive.size());
      window !== undefined;
      window = windows.takeNewest(adaptive.size())
    ) {
      signal.throwIfAborted();
      const [batch] = await Promise.all([read(window), settling]);
      settling = settle(window, batch);
      settling.catch(() => undefined); // awaited one turn later
    }
    await settling;
  };
  await Promise.all(Array.from({ length: config.parallelWindows }, work));
}

/** Checkpoints finished windows; those that finish while one write is under way share the next. */
function createFinisher(deps: BackfillDeps): (range: FinishedRange) => Promise<void> {
  let waiting: FinishedRange[] = [];
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return (range) => {
    waiting.push(range);
    next ??= writing.then(async () => {
      const group = waiting;
      waiting = [];
      writing = deps.acknowledged(() => deps.checkpoints.saveBackfill(group));
      next = null;
      await writing;
    });
    return next;
  };
}
