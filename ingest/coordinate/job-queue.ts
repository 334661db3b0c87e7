import type { BlockRange } from '../write/checkpoints.ts';

/** Blocks of one chain that are final and missing, to be indexed by any worker of the chain. */
export interface RangeJob {
  /** Made of the contracts that are read, the planner's token and the blocks: the same work planned twice is one job. */
  readonly id: string;
  /** Ascending. */
  readonly ranges: readonly BlockRange[];
  /**
   * Fence token of the planner: the engine refuses rows of a job whose planner was overtaken (clickhouse/engine/guard.ts). 0 where
   * no other process can reach the engine and nothing is fenced.
   */
  readonly epoch: bigint;
  /** Versions of its rows must be above this: what the planner retracted before must not win over them. */
  readonly versionFloor: bigint;
  /** Low ones are worked on first. */
  readonly rank: number;
}

/** Work done for jobs, for the figures of the chain. */
export interface WorkDone {
  readonly rows: number;
  readonly blocks: number;
  /** Of these, read from a Portal and not over JSON-RPC. */
  readonly portalBlocks: number;
  readonly deadLetters: number;
  readonly retries: number;
  readonly contradictions: number;
}

export const NO_WORK: WorkDone = {
  rows: 0,
  blocks: 0,
  portalBlocks: 0,
  deadLetters: 0,
  retries: 0,
  contradictions: 0,
};

/**
 * The jobs of one chain. Only a hint: table `checkpoints` records the indexed ranges, and from it a planner adds lost jobs again. So an
 * adapter may lose jobs, run one twice, or give one up.
 *
 * Contract:
 * - a job is open from `add` until it is done or given up, also between two attempts;
 * - jobs are begun by `rank`, jobs of one rank in the order in which they came;
 * - the jobs of a dead worker are restarted by another one after a while;
 * - a job whose handler throws is tried again after pauses that grow, `JOB_ATTEMPTS_MAX` times in all, and then given up.
 *
 * Methods reject when the queue cannot be reached, but `work`, which waits until it can be.
 */
export interface JobQueue {
  /** Whether other processes work on its jobs too. Then the planner cuts the missing range into jobs that can be shared out; else it is one job. */
  readonly isShared: boolean;
  /** Jobs whose id is open already are left as they are. */
  add(jobs: readonly RangeJob[]): Promise<void>;
  open(): Promise<readonly RangeJob[]>;
  /** Forgets the jobs that have not begun. */
  clear(): Promise<void>;
  /** Works on `jobsAtOnce` jobs at once until the signal aborts; resolves when those that were begun have ended. */
  work(options: WorkOptions): Promise<void>;
  /** Adds figures for `collect`. */
  report(work: WorkDone): Promise<void>;
  /** The figures reported since the last call by all processes; each report is returned once. */
  collect(): Promise<WorkDone>;
}

export interface WorkOptions {
  readonly jobsAtOnce: number;
  readonly signal: AbortSignal;
  readonly handle: (job: RangeJob, signal: AbortSignal) => Promise<void>;
}

/** Together some 15 seconds of pauses: a job that fails for longer is given up and planned again. */
export const JOB_ATTEMPTS_MAX = 5;
/** Doubled with every attempt. */
export const JOB_FIRST_PAUSE_MS = 1_000;

export function addWork(one: WorkDone, other: WorkDone): WorkDone {
  return {
    rows: one.rows + other.rows,
    blocks: one.blocks + other.blocks,
    portalBlocks: one.portalBlocks + other.portalBlocks,
    deadLetters: one.deadLetters + other.deadLetters,
    retries: one.retries + other.retries,
    contradictions: one.contradictions + other.contradictions,
  };
}
