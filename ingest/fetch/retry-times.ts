import { FETCH_PROBLEMS, type FetchProblem } from './document.ts';

/** When a file is fetched again, if ever. Times are Unix seconds, UTC. */

/** The last second that the engine's DateTime can hold. */
export const NEVER = 4_294_967_295;

const MINUTE = 60;
const DAY = 86_400;

export interface RetryTimes {
  /** After the first failure; doubled with each further one. */
  readonly firstRetrySeconds: number;
  readonly retryMaxSeconds: number;
  /** Interval for a good file that its owner may change. */
  readonly refreshSeconds: number;
}

/** For cards: most URIs in the registries lead nowhere, and a weekly check of those is enough. */
export const CARD_TIMES: RetryTimes = {
  firstRetrySeconds: 10 * MINUTE,
  retryMaxSeconds: 7 * DAY,
  refreshSeconds: DAY,
};

/** Jitter, so that files that failed together are not retried together. */
const SPREAD = 0.2;
const DOUBLINGS_MAX = 20;

/** The next attempt after `failures` consecutive failures, at least one. */
export function retryAt(now: number, failures: number, times: RetryTimes, random = Math.random): number {
  const wait = times.firstRetrySeconds * 2 ** Math.min(failures - 1, DOUBLINGS_MAX);
  return now + Math.ceil(Math.min(wait, times.retryMaxSeconds) * (1 + SPREAD * random()));
}

export function refreshAt(now: number, times: RetryTimes, random = Math.random): number {
  return now + Math.ceil(times.refreshSeconds * (1 + SPREAD * random()));
}

/** Whether a retry can help: never if the URI itself holds or hashes the content; for a host, unless the URI is at fault. */
export function isWorthATry(uri: string, problem: string): boolean {
  if (isFetchProblem(problem)) return FETCH_PROBLEMS[problem].retry && !isData(uri);
  return isMutable(uri);
}

/** Whether the content behind the URI can change. */
export function isMutable(uri: string): boolean {
  return /^\s*https?:/i.test(uri);
}

function isFetchProblem(problem: string): problem is FetchProblem {
  return Object.hasOwn(FETCH_PROBLEMS, problem);
}

function isData(uri: string): boolean {
  return /^\s*data:/i.test(uri);
}
