/** Blocks that could not be read rightly, in memory: after a restart each is tried once more. */
export interface Refusals {
  refuse(block: number): void;
  isRefused(block: number): boolean;
  /** When the first of them may be asked for again. */
  firstUntilMs(blocks: readonly number[]): number;
}

/** A block that was refused is asked for at least so often. */
const RETRY_MAX_MS = 86_400_000;

/** `firstRetryMs` doubles with each refusal of a block. */
export function createRefusals(firstRetryMs: number): Refusals {
  const refused = new Map<number, { readonly failures: number; readonly untilMs: number }>();
  const untilMs = (block: number): number => refused.get(block)?.untilMs ?? 0;
  return {
    refuse(block) {
      const failures = (refused.get(block)?.failures ?? 0) + 1;
      const waitMs = Math.min(RETRY_MAX_MS, firstRetryMs * 2 ** Math.min(failures - 1, 20));
      refused.set(block, { failures, untilMs: performance.now() + waitMs });
    },
    isRefused: (block) => untilMs(block) > performance.now(),
    firstUntilMs: (blocks) => Math.min(...blocks.map(untilMs)),
  };
}
