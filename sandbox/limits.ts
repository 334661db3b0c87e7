import { queriesAtOnce } from '../clickhouse/guest/memory.ts';
import { RESULT_READ_MAX_SECONDS } from '../clickhouse/guest/settings.ts';
import type { PlaceLimits } from '../core/process/places.ts';

/** The sandbox's own limits. Those that the engine enforces are in clickhouse/guest/settings.ts. */

/** Concurrent queries on a machine with `cores`; queries of the longer tiers always leave one core to the others. */
export function placesOf(cores: number): Pick<PlaceLimits, 'cores' | 'all' | 'heavy'> {
  return { cores, all: queriesAtOnce(cores), heavy: Math.max(1, cores - 1) };
}

/** Waiting queries, of all callers and per caller. */
export const QUEUE_MAX = 64;
export const QUEUE_MAX_PER_CALLER = 8;
/** How long a query waits for a place before it is rejected with `Retry-After`. */
export const QUEUE_WAIT_MAX_MS = 20_000;
export const QUEUE_RETRY_AFTER_SECONDS = 5;

/** Margin over a tier’s seconds, at which the engine ends a query itself, before the watchdog kills it. */
export const WATCHDOG_GRACE_MS = 2_000;
/** How long the engine may take to obey a KILL before it is restarted. Normally it takes a few hundredths of a second. */
export const KILL_OBEYED_MAX_MS = 5_000;
/** Polling interval for the end of a killed query. */
export const KILL_POLL_MS = 100;

/** An estimate plans the query, and planning computes its scalar subqueries. */
export const ESTIMATE_MAX_SECONDS = 2;
/** Added where its threads waited more than half of the time, for cores that others used: then the text is not at fault. */
export const ESTIMATE_IDLE_MAX_SECONDS = 6;
/** Estimates are free, so they share one place and wait for it only briefly. */
export const ESTIMATE_PLACES = 1;
export const ESTIMATE_WAIT_MAX_MS = 5_000;

/** Questions to the catalogue are free: engine time of one caller in a window, and callers that are counted. */
export const CATALOGUE_FREE_MS = 10_000;
export const CATALOGUE_WINDOW_MS = 60_000;
export const CATALOGUE_CALLERS_MAX = 10_000;
/** Rows that one of them can make: the columns of all tables joined with themselves are a quarter of it. */
export const CATALOGUE_ROWS_MADE_MAX = 1_000_000;

/** Cached verdicts, and the total size of their texts. */
export const VERDICTS_MAX = 2_000;
export const VERDICTS_MAX_CHARS = 16 * 1024 * 1024;
/** A text that could not be stopped does not run again until this process ends. */
export const QUARANTINE_MAX = 10_000;

/** How long a caller with an unstoppable query is blocked, and how many such callers are remembered. */
export const PENALTY_MS = 600_000;
export const PENALTY_CALLERS_MAX = 10_000;

/**
 * Unstoppable queries of the whole service. After this many within the window, SQL is for organizations only until an hour has passed
 * without another; after this many more in that time, SQL is closed until the service restarts.
 */
export const ORGANIZATIONS_ONLY_AFTER = 3;
export const UNSTOPPABLE_WINDOW_MS = 600_000;
export const ORGANIZATIONS_ONLY_MS = 3_600_000;
export const CLOSED_AFTER = 3;

/** How long an unstoppable query keeps its place after its KILL, in an engine that we cannot restart. */
export const PLACE_KEPT_MAX_MS = 60_000;
/** Polling interval for a query that ignored its KILL. */
export const UNSTOPPABLE_POLL_MS = 5_000;

/** Between two checks of a guest that failed the check. */
export const GUEST_CHECK_RETRY_MS = 1_000;

/** Results that the engine buffers in memory at once, of up to `HELD_IN_MEMORY_BYTES` each (clickhouse/guest/http.ts). */
export const RESULTS_IN_MEMORY_MAX = 2;

/** Results not yet read to their end, of all callers and per caller, and how long reading one may take. */
export const UNREAD_RESULTS_MAX = 32;
export const UNREAD_RESULTS_MAX_PER_CALLER = 8;
export const RESULT_READ_MAX_MS = RESULT_READ_MAX_SECONDS * 1_000;
