import { backfill } from '../follow/backfill.ts';
import type { FollowDeps } from '../follow/head.ts';
import { type BlockRange, countBlocks, missingRanges } from '../write/coverage.ts';
import type { Versions } from '../write/versions.ts';
import type { RangeJob } from './job-queue.ts';
import { createLocalQueue } from './local-queue.ts';

/** Sees to it that nothing of a gap stays missing; resolves when that is so. */
export type Fill = (work: FillWork) => Promise<void>;

export interface FillWork extends FollowDeps {
  readonly versions: Versions;
  /** Of what is read of the chain (`contractsName`). */
  readonly contracts: string;
  /** From where the index begins to the last block before the head range; empty when `to` is below `from`. */
  readonly gap: BlockRange;
  /** What of it is there. */
  readonly backfilled: readonly BlockRange[];
}

/**
 * Fills the gap in this process: one job with all that is missing, so that its windows are read side by side whatever piece they
 * are of. An error ends the worker, as any that is not marked does; the next start plans anew.
 */
export async function fillHere(work: FillWork): Promise<void> {
  const { gap, signal } = work;
  const missing = missingRanges(gap.from, gap.to, work.backfilled);
  const alreadyDone = Math.max(0, gap.to - gap.from + 1 - countBlocks(missing));
  const queue = createLocalQueue();
  await queue.add([wholeOf(work, missing)]);
  const ended = new AbortController();
  let outcome: Promise<void> = Promise.resolve();
  await queue.work({
    jobsAtOnce: 1,
    signal: AbortSignal.any([signal, ended.signal]),
    async handle({ ranges }) {
      outcome = backfill(work, ranges, alreadyDone);
      await outcome.catch(() => undefined); // told below
      ended.abort();
    },
  });
  await outcome;
}

function wholeOf({ contracts }: FillWork, ranges: readonly BlockRange[]): RangeJob {
  return { id: contracts, ranges, epoch: 0n, versionFloor: 0n, rank: 0 };
}
