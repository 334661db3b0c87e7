export interface PoolOptions {
  /** Items processed at once. */
  readonly width: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Processes the items in order, at most `width` at once: `runPool(files, { width: 4 }, load)`. After the first failure, or when the
 * signal aborts, no further item starts and the signal passed to `work` aborts. The error is thrown once all running work has
 * ended, so nothing outlives the call.
 */
export async function runPool<Item>(
  items: Iterable<Item>,
  { width, signal }: PoolOptions,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const failing = new AbortController();
  const stop = (): void => failing.abort(signal?.reason);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const worker = async (): Promise<void> => {
    try {
      while (!failing.signal.aborted) {
        const next = waiting.next();
        if (next.done === true) return;
        await work(next.value, failing.signal);
      }
    } catch (error) {
      failing.abort(error); // only the first reason is kept: later failures follow from the abort
    }
  };
  try {
    await Promise.all(Array.from({ length: width }, worker));
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  failing.signal.throwIfAborted();
}
