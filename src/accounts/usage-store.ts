import type { QueryRun, UsageRow } from '../../core/domain/usage.ts';

/**
 * What accounts used, for their own eyes. A part of `ControlStore` (store.ts), under the same rules but for `count`.
 *
 * Units are counted by the change that captures them (unit-store.ts), so that usage and ledger always agree; everything else comes
 * in batches from the memory of a process (src/gate/usage.ts).
 */

/** So many runs are kept for each organization, the newest. */
export const QUERIES_KEPT_MAX = 10_000;
/** Of those past `QUERIES_KEPT_MS`, so many are forgotten with every run that is added: more than one, so that a backlog shrinks. */
export const QUERIES_FORGOTTEN_PER_RUN = 3;

/** Names an account in the counts: an organization, or a trial key, which has none. */
export function usageOwner(
  caller: { readonly organizationId: string } | { readonly trialKeyId: string },
): string {
  return 'organizationId' in caller ? `org:${caller.organizationId}` : `key:${caller.trialKeyId}`;
}

export interface UsageStore {
  /** Adds to the counts. Not repeatable: a batch that is sent twice counts twice, so one of unknown outcome is given up. */
  count(batch: readonly (UsageRow & { readonly owner: string })[]): Promise<void>;
  /** The counts of days from `dayFrom` to `dayTo`, both included; by day, key, operation and lane. */
  usage(question: {
    readonly owner: string;
    readonly dayFrom: number;
    readonly dayTo: number;
  }): Promise<readonly UsageRow[]>;
  /**
   * Keeps runs, each once by its id. Left out are those that began before or at the time of a `forgetQueries` of all, so that a run
   * that another process still has in memory does not come back.
   */
  addQueries(runs: readonly QueryRun[]): Promise<void>;
  /** Newest first, then by id descending; those after `before`. `keyId` null: of all keys. */
  queries(page: {
    readonly organizationId: string;
    readonly keyId: string | null;
    readonly before: Pick<QueryRun, 'startedAtMs' | 'id'> | null;
    readonly limit: number;
  }): Promise<readonly QueryRun[]>;
  /** Forgets the run of that id, or all up to `atMs` (`id` null), of the key or of all keys; answers how many were there. */
  forgetQueries(forget: {
    readonly organizationId: string;
    readonly keyId: string | null;
    readonly id: string | null;
    readonly atMs: number;
  }): Promise<number>;
}
