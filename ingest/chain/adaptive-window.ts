/**
 * How many blocks to request at once. Chains differ by a factor of a thousand in logs per block, and one chain by a factor of ten
 * over its life, so the size adapts to the answers.
 */

export interface WindowOutcome {
  readonly blocks: number;
  readonly logs: number;
  readonly elapsedMs: number;
}

export interface AdaptiveWindow {
  /** Blocks to request next, from 1 to `maxBlocks`. */
  size(): number;
  /** Records the result of a window: the next size aims at the targets, at most doubling or quartering. */
  observe(outcome: WindowOutcome): void;
  /** The node refused or timed out: halves the size, and does not grow back to it for a good while. */
  shrink(refusedBlocks: number): void;
}

/** Long enough to make the overhead of a call small, short enough for visible progress and cheap retries. */
const DEFAULT_TARGET_MS = 4_000;
const DEFAULT_FIRST_BLOCKS = 64;
const MAX_GROWTH = 2;
const MAX_SHRINKAGE = 4;
/** Windows after which a refused size may be tried again: limits change, but each refusal costs a call. */
const REFUSAL_REMEMBERED_WINDOWS = 200;

export function createAdaptiveWindow(options: {
  readonly maxBlocks: number;
  /** Logs that one window should bring. */
  readonly targetLogs: number;
  readonly targetMs?: number;
  readonly firstBlocks?: number;
}): AdaptiveWindow {
  const targetMs = options.targetMs ?? DEFAULT_TARGET_MS;
  let ceiling = options.maxBlocks;
  let windowsSinceRefusal = 0;
  const clamp = (blocks: number): number => Math.max(1, Math.min(ceiling, Math.floor(blocks)));
  let size = clamp(options.firstBlocks ?? DEFAULT_FIRST_BLOCKS);
  return {
    size: () => size,
    observe({ blocks, logs, elapsedMs }) {
      if (blocks < 1) return;
      windowsSinceRefusal++;
      if (windowsSinceRefusal > REFUSAL_REMEMBERED_WINDOWS) ceiling = options.maxBlocks;
      // A window cut short by the end of its range shows the cost of a block, but is no reason to stay that small.
      const basis = Math.min(size, blocks);
      const byLogs = logs === 0 ? Number.POSITIVE_INFINITY : (options.targetLogs / logs) * blocks;
      const byTime = elapsedMs <= 0 ? Number.POSITIVE_INFINITY : (targetMs / elapsedMs) * blocks;
      const wanted = Math.min(byLogs, byTime);
      const largest = blocks < size ? size : basis * MAX_GROWTH;
      size = clamp(Math.max(Math.min(wanted, largest), size / MAX_SHRINKAGE));
    },
    shrink(refusedBlocks) {
      windowsSinceRefusal = 0;
      ceiling = Math.max(1, Math.min(ceiling, refusedBlocks - 1));
      size = clamp(Math.min(size, refusedBlocks / 2));
    },
  };
}
