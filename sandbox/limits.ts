/** Limits of the sandbox that are ours and not the engine's (those: clickhouse/guest-settings.ts). Source: sandbox.md C, api.md 5. */

/** Queries that run at once on a machine of `cores`; those of the longer tiers always leave one core to the others. */
export function placesOf(cores: number): { readonly all: number; readonly heavy: number } {
  return { all: Math.max(2, cores), heavy: Math.max(1, cores - 1) };
}

/** Queries that wait for a place, of all callers and of one. */
export const QUEUE_MAX = 64;
export const QUEUE_MAX_PER_CALLER = 8;
/** How long a query waits for a place before its caller is told to come again. */
export const QUEUE_WAIT_MAX_MS = 20_000;
export const QUEUE_RETRY_AFTER_SECONDS = 5;

/** Beyond its tier’s seconds, by which the engine itself ends a query, until the watchdog does. */
export const WATCHDOG_GRACE_MS = 2_000;
/** How long the engine may take to obey a KILL before it is started anew. A working one takes a few hundredths of a second. */
export const KILL_OBEYED_MAX_MS = 5_000;
/** Between two looks whether a stopped query is gone. */
export const KILL_POLL_MS = 100;
