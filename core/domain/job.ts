import type { PlanId } from './plan.ts';

/** Jobs of analysts' SQL and the results that are kept: their states, and how much of them a plan has. */

/**
 * queued → running → succeeded | failed | cancelled | expired. `expired`: it waited too long and never ran. Nothing leads out of the
 * last four.
 */
export const JOB_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;
export type JobState = (typeof JOB_STATES)[number];
export type EndedJobState = Exclude<JobState, 'queued' | 'running'>;

export function hasEnded(state: JobState): state is EndedJobState {
  return state !== 'queued' && state !== 'running';
}

const DAY_MS = 86_400_000;
const MEBIBYTE = 1024 * 1024;

/** How long a result is kept, and its job is listed. */
export const RESULT_KEPT_MS = 7 * DAY_MS;
/** How long a signed link to a result is valid. */
export const RESULT_LINK_MS = DAY_MS;
/** A job that no worker has begun by then is ended as `expired`, and costs nothing. */
export const JOB_WAIT_MAX_MS = 60 * 60_000;
/** How often a job is begun. A process that dies while it runs the job costs one. */
export const JOB_ATTEMPTS_MAX = 2;

export interface PlanStorage {
  /** Jobs that have not ended. */
  readonly unfinishedJobs: number;
  /** Kept results, and their bytes as they are stored; above either the oldest are removed. */
  readonly results: number;
  readonly resultBytes: number;
}

/** Results that organizations did not ask for themselves: results that others make of one author's queries, and results of one payer over x402. */
export const OTHER_STORAGE: Readonly<Record<'author' | 'payer', Omit<PlanStorage, 'unfinishedJobs'>>> = {
  author: { results: 500, resultBytes: 256 * MEBIBYTE },
  payer: { results: 20, resultBytes: 128 * MEBIBYTE },
};

export const PLAN_STORAGE: Readonly<Record<PlanId, PlanStorage>> = {
  free: { unfinishedJobs: 2, results: 50, resultBytes: 256 * MEBIBYTE },
  pro: { unfinishedJobs: 10, results: 500, resultBytes: 4_096 * MEBIBYTE },
  enterprise: { unfinishedJobs: 50, results: 5_000, resultBytes: 40_960 * MEBIBYTE },
};
