import { setMaxListeners } from 'node:events';

/** Aborts at the first SIGINT or SIGTERM, so that a command can shut down cleanly. A second signal kills the process as usual. */
export function stoppedBySignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}

/**
 * Runs parts that live and fail together: when one fails, the signal stops the others, and the failure is thrown once all have
 * ended, so no part outlives the call.
 */
export async function runTogether(
  outer: AbortSignal,
  begin: (signal: AbortSignal) => readonly Promise<unknown>[] | Promise<readonly Promise<unknown>[]>,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([outer, ending.signal]);
  // Every pause and request of the parts adds a listener: many at once are no leak.
  setMaxListeners(0, signal);
  let parts: readonly Promise<unknown>[] = [];
  try {
    parts = await begin(signal);
    await Promise.all(parts);
  } finally {
    ending.abort();
    await Promise.allSettled(parts);
  }
}
