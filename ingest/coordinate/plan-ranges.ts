import { setTimeout as delay } from 'node:timers/promises';
import { type BlockRange, countBlocks, missingRanges } from '../write/coverage.ts';
import type { FillWork } from './fill-here.ts';
import type { JobQueue, RangeJob } from './job-queue.ts';

/**
 * The planner of a chain: cuts what is missing into jobs and keeps some of them in the queue, newest first. It is run by the
 * chain's leader, looks at table `checkpoints` every time, and so puts back whatever the queue has lost or given up.
 */

/** Jobs that are open at once: enough for dozens of workers, and few enough to be read at every look. */
export const OPEN_JOBS_MAX = 64;
const PLAN_EVERY_MS = 1_000;
/** A job has some seconds of work in it: more blocks where windows are large, fewer where little is left to share out. */
const JOB_WINDOWS_MAX = 8;
const JOB_BLOCKS_MIN = 100;
/** What is missing is cut into at least so many jobs, so that the last ones end at about the same time. */
const JOBS_LEFT_MIN = 2 * OPEN_JOBS_MAX;
/** Small gaps are put together, but not without end: a job is read whole at every look. */
const RANGES_PER_JOB_MAX = 64;
/** Blocks that share a rank. */
const RANK_BLOCKS = 1_000;
const TELL_EVERY_MS = 60_000;

/** Until nothing is missing any more. */
export async function planRanges(
  work: FillWork & { readonly queue: JobQueue; readonly epoch: bigint; readonly planEveryMs?: number },
): Promise<void> {
  const { queue, signal, log, config, planEveryMs = PLAN_EVERY_MS } = work;
  let isCleared = false;
  let toldMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    signal.throwIfAborted();
    // First the queue and then the checkpoints: a job that ended in between is found done, and not planned once more.
    const open = await lookAt(queue, isCleared).catch(() => null);
    const missing = await missingNow(work);
    if (open !== null) {
      isCleared = true;
      work.status.hadTrouble(open.done);
      if (open.done.blocks > 0) work.status.wrote(open.done);
      if (missing.length === 0 && open.jobs.length === 0) return;
      await queue.add(nextJobs(work, missing, open.jobs)).catch(() => undefined); // the next look tells
    } else if (performance.now() - toldMs >= TELL_EVERY_MS) {
      toldMs = performance.now();
      log.warn({ chain: config.chain }, 'backfill waits for the queue; what is indexed is safe');
    }
    await delay(planEveryMs, undefined, { signal });
  }
}

/** Jobs that a predecessor has planned would only be refused by the engine. */
async function lookAt(queue: JobQueue, isCleared: boolean) {
  if (!isCleared) await queue.clear();
  return { jobs: await queue.open(), done: await queue.collect() };
}

async function missingNow({ checkpoints, acknowledged, status, gap }: FillWork): Promise<BlockRange[]> {
  const { backfilled } = await acknowledged(() => checkpoints.load());
  const missing = missingRanges(gap.from, gap.to, backfilled);
  const total = Math.max(0, gap.to - gap.from + 1);
  status.backfill(total - countBlocks(missing), total);
  return missing;
}

/** The newest jobs that are not open, as many as there is room for. Pure. */
export function nextJobs(
  work: Pick<FillWork, 'contracts' | 'gap' | 'versions'> & {
    readonly config: { readonly logWindowMax: number };
    readonly epoch: bigint;
  },
  missing: readonly BlockRange[],
  open: readonly RangeJob[],
): RangeJob[] {
  const own = open.filter(({ epoch }) => epoch === work.epoch);
  const free = withoutThe(
    missing,
    own.flatMap(({ ranges }) => ranges),
  );
  const blocksMax = Math.max(
    JOB_BLOCKS_MIN,
    Math.min(JOB_WINDOWS_MAX * work.config.logWindowMax, Math.ceil(countBlocks(missing) / JOBS_LEFT_MIN)),
  );
  const room = Math.max(0, OPEN_JOBS_MAX - own.length);
  const versionFloor = room === 0 ? 0n : work.versions.next();
  return cutNewestFirst(free, blocksMax, room).map((ranges): RangeJob => {
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

function withoutThe(missing: readonly BlockRange[], taken: readonly BlockRange[]): BlockRange[] {
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
