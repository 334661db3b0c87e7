/**
 * Runs `work` with a signal that aborts with `signal`, or when the time is over; `isOver` tells which. By hand, not by
 * `AbortSignal.any` and `timeout`: those stay registered at a signal that lives as long as the process, one per fetch.
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  deadlineMs: number,
  work: (signal: AbortSignal, isOver: () => boolean) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const ending = new AbortController();
  let isOver = false;
  const abort = (): void => ending.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => {
    isOver = true;
    ending.abort();
  }, deadlineMs);
  try {
    return await work(ending.signal, () => isOver);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
