import { setTimeout as delay } from 'node:timers/promises';

export interface RetryOptions {
  /** No attempt begins, and no pause goes on, once it has aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The pause before the next attempt, or null to give up with this error. `failures` counts from 1. */
  pauseMs(error: unknown, failures: number): number | null;
}

/**
 * Repeats `attempt` until it succeeds or is given up:
 * `retry(() => send(), { signal, pauseMs: (error, failures) => (isPassing(error) ? backOffMs(failures, PAUSES) : null) })`.
 * Only for work that may be done twice.
 */
export async function retry<T>(attempt: () => Promise<T>, { signal, pauseMs }: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures++) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const nextMs = signal?.aborted === true ? null : pauseMs(error, failures);
      if (nextMs === null) throw error;
      if (nextMs > 0) await delay(nextMs, undefined, signal === undefined ? {} : { signal });
    }
  }
}

/** For callers whose attempts end at a time: the pause until then, null afterwards. */
export function pauseUntil(deadlineMs: number, pauseMs: number): number | null {
  return performance.now() < deadlineMs ? pauseMs : null;
}

/** Doubles from the first pause to the longest. Between half and the whole of it, so that parallel callers do not come back in step. */
export function backOffMs(
  failuresInRow: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** (failuresInRow - 1));
  return fullMs * (0.5 + Math.random() / 2);
}
