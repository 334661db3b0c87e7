import type { CallSignals } from './error.ts';

/** The engine's own limit fires first; this one is for an engine that does not answer at all. */
const CLIENT_GRACE_MS = 3_000;

/**
 * Does `work` until the caller leaves or its seconds are over. What this needs ends with the work: `AbortSignal.timeout` and
 * `AbortSignal.any` keep a timer and two signals alive for every statement of the last seconds.
 */
export async function withinSeconds<Answer>(
  maxSeconds: number,
  caller: AbortSignal | undefined,
  work: (signals: CallSignals) => Promise<Answer>,
): Promise<Answer> {
  const over = new AbortController();
  const end = (): void => over.abort();
  const timer = setTimeout(end, maxSeconds * 1_000 + CLIENT_GRACE_MS).unref();
  caller?.addEventListener('abort', end, { once: true });
  if (caller?.aborted === true) end();
  try {
    return await work({ either: over.signal, caller });
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', end);
  }
}
