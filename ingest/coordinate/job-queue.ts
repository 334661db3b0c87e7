import type { BlockRange } from '../write/coverage.ts';

/** Blocks of one chain that are final and missing, to be indexed by whoever is free. */
export interface RangeJob {
  /** Of the contracts that are read, of who planned it and of the blocks: the same work planned twice is one job. */
  readonly id: string;
  /** Ascending. */
  readonly ranges: readonly BlockRange[];
  /** Fence token of the planner. Rows of a job whose planner was overtaken are refused by the engine (clickhouse/engine/guard.ts). */
  readonly epoch: bigint;
  /** Versions of its rows must be above this: what the planner retracted before must not win over them. */
  readonly versionFloor: bigint;
  /** Low ones are worked on first. */
  readonly rank: number;
}

/** What was done for jobs, for the figures of the chain. */
export interface WorkDone {
  readonly rows: number;
  readonly blocks: number;
  readonly deadLetters: number;
  readonly retries: number;
  readonly contradictions: number;
}

export const NO_WORK: WorkDone = { rows: 0, blocks: 0, deadLetters: 0, retries: 0, contradictions: 0 };

/**
 * The jobs of one chain. A hint and never the truth: what is indexed is in table `checkpoints`, and a planner that looks there
 * adds again whatever a queue has lost. So an adapter may lose jobs, run one twice, or give one up.
 *
 * Contract:
 * - a job is open from `add` until it is done or given up, also between two attempts;
 * - jobs are begun by `rank`, those of one rank in the order in which they came;
 * - of a worker that dies the jobs are begun anew by another one after a while;
 * - a job whose handler throws is tried again after pauses that grow, `JOB_ATTEMPTS_MAX` times in all, and then given up.
 *
 * Methods reject when the queue cannot be reached, but `work`, which waits until it can be.
 */
export interface JobQueue {
  /** Jobs whose id is open already are left as they are. */
  add(jobs: readonly RangeJob[]): Promise<void>;
  open(): Promise<readonly RangeJob[]>;
  /** Forgets the jobs that nobody has begun. */
  clear(): Promise<void>;
  /** Works on `jobsAtOnce` jobs at once until the signal aborts; resolves when those that were begun have ended. */
  work(options: WorkOptions): Promise<void>;
  /** Adds to what `collect` answers. */
  report(work: WorkDone): Promise<void>;
  /** What was reported since the last time; whoever asks gets it, and nobody else. */
  collect(): Promise<WorkDone>;
}

export interface WorkOptions {
  readonly jobsAtOnce: number;
  readonly signal: AbortSignal;
  readonly handle: (job: RangeJob, signal: AbortSignal) => Promise<void>;
}

/** Together some 15 seconds of pauses: a job that fails for longer is given up and planned anew. */
export const JOB_ATTEMPTS_MAX = 5;
/** Doubled with every attempt. */
export const JOB_FIRST_PAUSE_MS = 1_000;

export function addWork(one: WorkDone, other: WorkDone): WorkDone {
  return {
    rows: one.rows + other.rows,
    blocks: one.blocks + other.blocks,
    deadLetters: one.deadLetters + other.deadLetters,
    retries: one.retries + other.retries,
    contradictions: one.contradictions + other.contradictions,
  };
}
