import type { Config } from '../../core/config/config.ts';
import type { ContestedOrigin } from './contested-origins.ts';
import type { ListedPayees } from './listed-payees.ts';
import type { EndpointSource, SyncDeps } from './sync-source.ts';

/** How often what is done, and what it is done with. */

export interface EndpointLimits {
  /** A new listing is seen within the hour; more often would be a burden on strangers. */
  readonly refreshMs: number;
  /** After a reading that failed; contested origins wait `refreshMs` then too. */
  readonly retryMs: number;
  /** How soon a source that was configured a moment ago is read, and a change is carried on. */
  readonly lookEveryMs: number;
  /** Sources that are read at the same time. */
  readonly syncsMax: number;
  /** Activity is also counted when a reading is over that changed something. */
  readonly recountMs: number;
  /** While sources are being read, the directory follows them this often. */
  readonly listEveryMs: number;
  /** The least between two changes of the catalogue's payees: each makes the rows of its payees be graded anew. */
  readonly payeesEveryMs: number;
  /** They wait until no source is being read, but no longer than this. */
  readonly payeesWaitMaxMs: number;
}

export const ENDPOINT_LIMITS: EndpointLimits = {
  refreshMs: 3_600_000,
  retryMs: 600_000,
  lookEveryMs: 1_000,
  syncsMax: 4,
  recountMs: 300_000,
  listEveryMs: 60_000,
  payeesEveryMs: 600_000,
  payeesWaitMaxMs: 3_600_000,
};

export interface FollowEndpointsDeps extends SyncDeps {
  readonly config: Pick<Config, 'chains'>;
  /** What is configured now; null while that is not known. */
  readonly sources: () => readonly EndpointSource[] | null;
  /** Told whenever the directory was derived, and before the first look at the sources. */
  readonly onContested: (origins: readonly ContestedOrigin[]) => void;
  readonly payees: ListedPayees;
  readonly limits?: Partial<EndpointLimits>;
}
