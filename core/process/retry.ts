import { setTimeout as delay } from 'node:timers/promises';

export interface RetryOptions {
  /** After its abort no attempt begins, and a pause ends at once. */
  readonly signal?: AbortSignal | undefined;
  /** The pause before the next attempt, or null to give up with this error. `failures` counts from 1. */
  pauseMs(error: unknown, failures: number): number | null;
}

/**
 * Repeats `attempt` until it succeeds or `pauseMs` gives up:
 * `retry(() => send(), { signal, pauseMs: (error, failures) => (isPassing(error) ? backOffMs(failures, PAUSES) : null) })`.
 * Only for idempotent work.
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

/** For callers with a deadline: the pause before it, null after it. */
export function pauseUntil(deadlineMs: number, pauseMs: number): number | null {
  return performance.now() < deadlineMs ? pauseMs : null;
}

/** Exponential back-off from the first pause to the longest, with jitter of up to half, so that parallel callers do not retry in step. */
export function backOffMs(
  failuresInRow: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** (failuresInRow - 1));
  return fullMs * (0.5 + Math.random() / 2);
}
