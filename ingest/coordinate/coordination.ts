import type { RateLimitOf } from '../chain/rate-limit.ts';
import type { JobQueue } from './job-queue.ts';
import type { Leases } from './leases.ts';

/** What several ingest processes agree by. Made in src/service.ts and in tests. */
export interface Coordination {
  /** This process and this start of it. */
  readonly owner: string;
  readonly leases: Leases;
  /** The jobs of a name, of letters, digits, `-` and `_`; the same object for the same name. */
  readonly queueOf: (name: string) => JobQueue;
  readonly rateLimitOf: RateLimitOf;
}
