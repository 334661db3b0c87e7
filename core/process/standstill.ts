import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for work whose length depends on the machine: as long as it makes progress, and a bounded time beyond its last step. A limit of
 * the whole would fail on a busy machine, or hide a fault on a fast one.
 */

/**
 * Tells at each look whether the work has stood still for `maxMs`. The argument says how far it is, in words; a place where it was
 * before is no progress, so that work in circles is given up too. The clock starts with the call.
 */
export function watchStandstill(maxMs: number): (at: string) => boolean {
  const seen = new Set<string>();
  let progressMs = performance.now();
  return (at) => {
    if (!seen.has(at)) progressMs = performance.now();
    seen.add(at);
    return performance.now() - progressMs > maxMs;
  };
}

/** What one look at the work says: whether it is done, and how far it is, in words. */
export interface Look {
  readonly done: boolean;
  readonly at: string;
}

/** Longer than any one step may take: a few requests in a row that are not answered, a restart on a busy machine. */
export const STANDSTILL_MS = 120_000;
/** A look may ask for every row: more often would keep the machine from the work itself. */
const LOOK_EVERY_MS = 50;

/**
 * Resolves when a look says that the work is done; rejects after `standstillMs` without progress, with where it stands. A look that
 * throws is no progress; the last such error is the cause.
 */
export async function waitWhileItProgresses(
  what: string,
  look: () => Promise<Look>,
  standstillMs = STANDSTILL_MS,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<void> {
  const standsStill = watchStandstill(standstillMs);
  let at = 'nowhere';
  let problem: unknown;
  let stopped = false;
  for (; !stopped; await sleep(lookEveryMs)) {
    try {
      const found = await look();
      if (found.done) return;
      at = found.at;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    // Only after a look: while a busy machine keeps us from looking, the work may go on.
    stopped = standsStill(at);
  }
  throw new Error(`gave up waiting until ${what}: ${standstillMs} ms without progress, at: ${at}`, {
    cause: problem,
  });
}
