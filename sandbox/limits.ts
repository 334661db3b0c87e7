import { RESULT_READ_MAX_SECONDS } from '../clickhouse/guest/settings.ts';

/** Limits of the sandbox that are ours and not the engine's (those: clickhouse/guest/settings.ts). */

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

/** An estimate plans the query, for which the engine computes its scalar subqueries: never for long. */
export const ESTIMATE_MAX_SECONDS = 2;
/** Estimates are free of charge, so they share one place, and wait for it briefly. */
export const ESTIMATE_PLACES = 1;
export const ESTIMATE_WAIT_MAX_MS = 5_000;

/** Verdicts that are remembered, and the size of their texts. */
export const VERDICTS_MAX = 2_000;
export const VERDICTS_MAX_CHARS = 16 * 1024 * 1024;
/** Texts that the engine once could not be stopped from running are not run again until this process ends. */
export const QUARANTINE_MAX = 10_000;

/** For how long nothing is run of a caller whose query the engine could not be stopped from running, and for how many callers. */
export const PENALTY_MS = 600_000;
export const PENALTY_CALLERS_MAX = 10_000;

/**
 * Unstoppable queries of the whole service: so many within the window, and SQL is for organizations only until an hour has passed since
 * the last one; so many more in that time, and it is for no caller until the service is started anew.
 */
export const ORGANIZATIONS_ONLY_AFTER = 3;
export const UNSTOPPABLE_WINDOW_MS = 600_000;
export const ORGANIZATIONS_ONLY_MS = 3_600_000;
export const CLOSED_AFTER = 3;

/** How long an unstoppable query keeps its place in an engine that is not ours to start anew, after it was told to stop. */
export const PLACE_KEPT_MAX_MS = 60_000;
/** Between two looks at one that did not obey in time. */
export const UNSTOPPABLE_POLL_MS = 5_000;

/** Between two checks of a guest that did not pass. */
export const GUEST_CHECK_RETRY_MS = 1_000;

/** Results that the engine holds in memory at once: `HELD_IN_MEMORY_BYTES` each (clickhouse/guest/engine.ts). */
export const RESULTS_IN_MEMORY_MAX = 2;

/** Results that have not been read to their end, of all callers and of one, and how long reading one may take. */
export const UNREAD_RESULTS_MAX = 32;
export const UNREAD_RESULTS_MAX_PER_CALLER = 8;
export const RESULT_READ_MAX_MS = RESULT_READ_MAX_SECONDS * 1_000;
