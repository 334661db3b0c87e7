import type { EndedJobState, JobState } from '../../core/domain/job.ts';

/**
 * Jobs of analysts' SQL, and the line that they wait in. A part of `ControlStore` (store.ts), under the same rules.
 *
 * queued → running → succeeded | failed | cancelled | expired. `expired`: it waited too long and never ran. A running job whose lease
 * lapsed is claimed again; nothing leads out of the last four.
 */

export interface NewJob {
  readonly id: string;
  readonly organizationId: string;
  /** The call to run and the hold that pays for it: the store does not read them. */
  readonly request: string;
  readonly createdAtMs: number;
}

export interface JobRecord extends NewJob {
  readonly state: JobState;
  /** How often it was claimed. Names the claim: only the newest may change the job. */
  readonly attempt: number;
  /** Until when its claim lasts; null unless it runs. */
  readonly leaseUntilMs: number | null;
  /** Of the first claim. */
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** When its end was asked for while it ran. */
  readonly cancelAtMs: number | null;
  /** How far it is; the store does not read it. */
  readonly progress: string | null;
  /** The whole result, once it is published: from then on the job is only charged and ended. */
  readonly resultId: string | null;
  /** How it ended; the store does not read it. */
  readonly outcome: string | null;
}

/** The claim of a worker on a job. */
export interface JobClaim {
  readonly id: string;
  readonly attempt: number;
}

export interface JobStore {
  /**
   * Puts a job at the end of the line. `replayed`: a job of this id is there already, of whatever organization, and nothing changes.
   * `too_many`: the organization has `unfinishedMax` jobs that have not ended. `keyId`: the key that asks, in whose list the job is too.
   */
  add(
    job: NewJob & { readonly unfinishedMax: number; readonly keyId?: string | null },
  ): Promise<'added' | 'replayed' | 'too_many'>;
  /**
   * Takes a running job whose lease lapsed (`leaseUntilMs <= nowMs`), the one that lapsed first, otherwise the oldest queued one; null
   * when there is none. It runs then, with an attempt more, until `leaseUntilMs`.
   */
  claim(claim: { readonly nowMs: number; readonly leaseUntilMs: number }): Promise<JobRecord | null>;
  /**
   * Renews the lease of a claim and keeps the fields given (absent: as it was). Resolves with the job as it is then; null when the claim
   * is not the newest or the job has ended: its worker must stop.
   */
  renew(
    claim: JobClaim & {
      readonly leaseUntilMs: number;
      readonly progress?: string;
      readonly resultId?: string;
    },
  ): Promise<JobRecord | null>;
  /** Puts a claimed job back into its place in the line, for another attempt. False when the claim is not the newest or has ended. */
  putBack(claim: JobClaim): Promise<boolean>;
  /** Ends a claimed job. False, and nothing changes, when the claim is not the newest or the job has ended. */
  end(
    claim: JobClaim & { readonly state: EndedJobState; readonly outcome: string; readonly atMs: number },
  ): Promise<boolean>;
  /**
   * A queued job ends as `cancelled`, with `outcome`; a running one is marked and its worker ends it (`asked`). `ended`: too late,
   * nothing changes. `unknown`: the organization has no such job.
   */
  cancel(job: {
    readonly id: string;
    readonly organizationId: string;
    readonly outcome: string;
    readonly atMs: number;
  }): Promise<'cancelled' | 'asked' | 'ended' | 'unknown'>;
  /** How many jobs of an organization have not ended. */
  unfinished(organizationId: string): Promise<number>;
  /** Null for an unknown job and for one of another organization. */
  find(job: { readonly id: string; readonly organizationId: string }): Promise<JobRecord | null>;
  /** Jobs of an organization, or of one of its keys, newest first and by id; `offset` of them are left out. */
  list(page: {
    readonly organizationId: string;
    /** Absent or null: all. */
    readonly keyId?: string | null;
    readonly offset: number;
    readonly limit: number;
  }): Promise<readonly JobRecord[]>;
  /** Forgets jobs that ended at or before `endedUntilMs`, at most `limit`; says how many. */
  forget(old: { readonly endedUntilMs: number; readonly limit: number }): Promise<number>;
}
