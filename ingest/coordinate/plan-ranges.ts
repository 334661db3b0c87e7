import { setTimeout as delay } from 'node:timers/promises';
import type { FollowDeps } from '../follow/head.ts';
import { type BlockRange, countBlocks, missingRanges } from '../write/checkpoints.ts';
import type { Versions } from '../write/versions.ts';
import type { JobQueue, RangeJob } from './job-queue.ts';

/**
 * The planner of a chain: splits missing blocks into jobs and keeps some of them in the queue, newest first. The chain's leader runs
 * it; it reads table `checkpoints` every time, and so adds again what the queue has lost or given up. In an unshared queue everything
 * missing is one job, whose windows are read in parallel across gaps.
 */

/** Open jobs at once: enough for dozens of workers, and few enough to read at every poll. */
export const OPEN_JOBS_MAX = 64;
const PLAN_EVERY_MS = 1_000;
/** A job takes some seconds: more blocks if windows are large, fewer if little is left to distribute. */
const JOB_WINDOWS_MAX = 8;
const JOB_BLOCKS_MIN = 100;
/** The missing blocks become at least this many jobs, so that the last ones end at about the same time. */
const JOBS_LEFT_MIN = 2 * OPEN_JOBS_MAX;
/** Small gaps share a job, up to this number: every poll reads whole jobs. */
const RANGES_PER_JOB_MAX = 64;
/** Blocks that share a rank. */
const RANK_BLOCKS = 1_000;
const WARN_EVERY_MS = 60_000;

export interface PlanDeps
  extends Pick<FollowDeps, 'config' | 'checkpoints' | 'status' | 'acknowledged' | 'log' | 'signal'> {
  readonly versions: Versions;
  readonly plan: Plan;
  readonly planEveryMs?: number;
}

/** The range to plan and its owner. */
export interface Plan {
  readonly queue: JobQueue;
  /** Fence token of the chain's leader; 0 where nothing is fenced. */
  readonly epoch: bigint;
  /** Names the contracts whose logs are read (`contractsName`). */
  readonly contracts: string;
  /** From the first block of the index to the last one before the head range; empty when `to` is below `from`. */
  readonly gap: BlockRange;
}

/** Resolves when nothing is missing. */
export async function planRanges(deps: PlanDeps): Promise<void> {
  const { config, status, versions, plan, log, signal, planEveryMs = PLAN_EVERY_MS } = deps;
  const { queue } = plan;
  let isCleared = false;
  let warnedMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    signal.throwIfAborted();
    // Reads the queue before the checkpoints: a job that ends in between is found done and is not planned again.
    const open = await lookAt(queue, isCleared).catch(() => null);
    const missing = await missingNow(deps);
    if (open !== null) {
      isCleared = true;
      status.hadTrouble(open.done);
      if (open.done.blocks > 0) {
        status.wrote(open.done);
        status.backfilledFrom(open.done.portalBlocks > 0 ? 'portal' : 'rpc');
      }
      if (missing.length === 0 && open.jobs.length === 0) return;
      const jobs = nextJobs({ ...plan, config, versions }, missing, open.jobs);
      await queue.add(jobs).catch(() => undefined); // the next look plans a job that was not added once more
    } else if (performance.now() - warnedMs >= WARN_EVERY_MS) {
      warnedMs = performance.now();
      log.warn({ chain: config.chain }, 'backfill waits for the queue; what is indexed is safe');
    }
    await delay(planEveryMs, undefined, { signal });
  }
}

/** Removes a predecessor's jobs, whose writes the engine would refuse. */
async function lookAt(queue: JobQueue, isCleared: boolean) {
  if (!isCleared) await queue.clear();
  return { jobs: await queue.open(), done: await queue.collect() };
}

async function missingNow({
  checkpoints,
  acknowledged,
  status,
  plan: { gap },
}: PlanDeps): Promise<BlockRange[]> {
  const { backfilled } = await acknowledged(() => checkpoints.load());
  const missing = missingRanges(gap.from, gap.to, backfilled);
  const total = Math.max(0, gap.to - gap.from + 1);
  status.backfill(total - countBlocks(missing), total);
  return missing;
}

/** The newest jobs that are not open, as many as there is room for. Pure. */
export function nextJobs(
  work: Omit<Plan, 'queue'> & {
    readonly queue: Pick<JobQueue, 'isShared'>;
    readonly versions: Pick<Versions, 'next'>;
    readonly config: { readonly logWindowMax: number };
  },
  missing: readonly BlockRange[],
  open: readonly RangeJob[],
): RangeJob[] {
  const own = open.filter(({ epoch }) => epoch === work.epoch);
  const room = Math.max(0, (work.queue.isShared ? OPEN_JOBS_MAX : 1) - own.length);
  if (room === 0) return [];
  const versionFloor = work.versions.next();
  return cutJobs(work, missing, own, room).map((ranges): RangeJob => {
    const [from, to] = [ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0];
    return {
      id: `${work.contracts}-${work.epoch}-${from}-${to}`,
      ranges,
      epoch: work.epoch,
      versionFloor,
      rank: Math.floor((work.gap.to - to) / RANK_BLOCKS),
    };
  });
}

/** Ranges of the next jobs. */
function cutJobs(
  {
    queue,
    config,
  }: { readonly queue: Pick<JobQueue, 'isShared'>; readonly config: { readonly logWindowMax: number } },
  missing: readonly BlockRange[],
  own: readonly RangeJob[],
  room: number,
): (readonly BlockRange[])[] {
  if (!queue.isShared) return missing.length === 0 ? [] : [missing];
  const blocksMax = Math.max(
    JOB_BLOCKS_MIN,
    Math.min(JOB_WINDOWS_MAX * config.logWindowMax, Math.ceil(countBlocks(missing) / JOBS_LEFT_MIN)),
  );
  const taken = own.flatMap(({ ranges }) => ranges);
  return cutNewestFirst(without(missing, taken), blocksMax, room);
}

function without(missing: readonly BlockRange[], taken: readonly BlockRange[]): BlockRange[] {
  return missing.flatMap(({ from, to }) => missingRanges(from, to, taken));
}

/** Pieces of at most `blocksMax` blocks, each of one or more ranges in ascending order. */
function cutNewestFirst(
  ranges: readonly BlockRange[],
  blocksMax: number,
  piecesMax: number,
): (readonly BlockRange[])[] {
  const pieces: BlockRange[][] = [];
  const left = ranges.map(({ from, to }) => ({ from, to }));
  while (left.length > 0 && pieces.length < piecesMax) {
    const piece: BlockRange[] = [];
    for (let room = blocksMax; room > 0 && piece.length < RANGES_PER_JOB_MAX; ) {
      const top = left.at(-1);
      if (top === undefined) break;
      const from = Math.max(top.from, top.to - room + 1);
      piece.unshift({ from, to: top.to });
      room -= top.to - from + 1;
      if (from === top.from) left.pop();
      else top.to = from - 1;
    }
    pieces.push(piece);
  }
  return pieces;
}
