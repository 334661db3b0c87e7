import { setMaxListeners } from 'node:events';

/** Aborts at the first SIGINT or SIGTERM, so that a command can end in order. A second one ends the process as usual. */
export function stoppedBySignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}

/**
 * Runs parts that end together: when one fails, the others are told by the signal, and the failure is thrown when all of them
 * have ended. So nothing of them is under way any more afterwards.
 */
export async function runTogether(
  outer: AbortSignal,
  begin: (signal: AbortSignal) => readonly Promise<unknown>[] | Promise<readonly Promise<unknown>[]>,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([outer, ending.signal]);
  // Every pause and request of them listens to it: many at once are no leak.
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
