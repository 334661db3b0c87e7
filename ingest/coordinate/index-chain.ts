import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Log } from '../../core/log.ts';
import type { BlockRef, ChainTip } from '../chain/block-source.ts';
import { WrongChain } from '../chain/rpc/failure.ts';
import { type ChainStatus, createChainStatus } from '../follow/chain-status.ts';
import { ancestorOf, type FollowDeps, followHead, retractTo, waitForNextHead } from '../follow/head.ts';
import { createPipeline, type WindowReader } from '../follow/pipeline.ts';
import { createKnownBlocks, NodeBehind, ReorgBelowFinality } from '../follow/reorg.ts';
import { loadCounters } from '../follow/status-report.ts';
import type { CatalogueHolder } from '../grading/catalogue.ts';
import { createBatchWriter, untilAcknowledged } from '../write/batch-writer.ts';
import {
  type BlockRange,
  contractsName,
  createCheckpoints,
  type HeadRange,
  mergeRanges,
  type Progress,
} from '../write/checkpoints.ts';
import { retractAbove, waitForWrites } from '../write/retract.ts';
import type { Versions } from '../write/versions.ts';
import type { JobQueue } from './job-queue.ts';
import { planRanges } from './plan-ranges.ts';

export interface IndexChainDeps {
  readonly config: ChainConfig;
  readonly source: ChainTip;
  readonly windows: WindowReader;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly catalogues: CatalogueHolder;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The ranges that are missing behind the head: coordinate/work-ranges.ts works on it. */
  readonly jobs: {
    /** By `contractsName`. */
    readonly queueOf: (contracts: string) => JobQueue;
    /** Fence token of the chain's leader; 0 where nothing is fenced. */
    readonly epoch: bigint;
  };
}

/** A gap longer than this behind the final block is filled by backfill, so that the newest blocks come first. */
const CATCH_UP_BY_FOLLOWING_MAX_BLOCKS = 1_000;
/** Above every chain's finality: how far back a reorg can reach at all. */
const REMEMBERED_BLOCKS_MAX = 100_000;

/** A running chain: its status is available at once, `done` settles when it ends. */
export interface ChainRun {
  readonly status: ChainStatus;
  readonly done: Promise<void>;
}

/**
 * Indexes one chain: continues after the last checkpoint, follows the tip, and fills the gaps behind it. A reorg below finality stops
 * this chain visibly, but no other.
 */
export async function indexChain(deps: IndexChainDeps): Promise<ChainRun> {
  const { config, source, writer, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const status = createChainStatus(
    config,
    source,
    await acknowledged(() => loadCounters(writer, config.chain)),
  );
  const done = run(deps, status, acknowledged);
  // The caller awaits `done` later, together with other chains; until then a failure must not count as unhandled.
  done.catch(() => undefined);
  return { status, done };
}

async function run(
  deps: IndexChainDeps,
  status: ChainStatus,
  acknowledged: FollowDeps['acknowledged'],
): Promise<void> {
  const { config, source, windows, writer, versions, catalogues, jobs, log, signal } = deps;
  const pipeline = createPipeline({
    windows,
    catalogues,
    batches: createBatchWriter({ chain: config.chain, writer, versions, log, signal }),
    status,
    signal,
  });
  const { isPartial } = windows;
  const contracts = contractsName(windows.contracts, isPartial);
  const heads = { next: (): void => undefined };
  const silence = source.onNewHead(() => heads.next());
  const follow: FollowDeps = {
    config,
    source,
    pipeline,
    status,
    acknowledged,
    log,
    signal,
    checkpoints: createCheckpoints({ chain: config.chain, contracts, isPartial }, writer, versions),
    known: createKnownBlocks(),
    heads,
    retract: (ancestor) => acknowledged(() => retractAbove(writer, versions, config.chain, ancestor)),
  };
  try {
    await acknowledged(() => waitForStrayWrites(deps));
    const { head, floor } = await pickUp(follow, await acknowledged(() => follow.checkpoints.load()));
    const gap = { from: floor, to: head.start - 1 };
    const plan = { queue: jobs.queueOf(contracts), epoch: jobs.epoch, contracts, gap };
    await Promise.all([followHead(follow, head), planRanges({ ...follow, versions, plan })]);
  } catch (error) {
    const reason = stopReason(error);
    if (reason === null) throw error;
    log.fatal(
      { chain: config.chain, reason, err: error },
      'this chain is stopped until an operator has looked',
    );
    status.stopped(reason);
  } finally {
    silence();
  }
}

/** Errors that only an operator can fix stop this chain and no other; any unmarked error is a bug and ends the worker. */
function stopReason(error: unknown): string | null {
  if (error instanceof ReorgBelowFinality) return 'reorg_below_finality';
  if (error instanceof WrongChain) return 'wrong_chain';
  return null;
}

/**
 * A worker that was killed can leave an insert behind in the engine; rows that land after the retraction would never be
 * retracted.
 */
async function waitForStrayWrites({ writer, config, log, signal }: IndexChainDeps): Promise<void> {
  await waitForWrites(writer, config.chain, signal, (count) =>
    log.info({ chain: config.chain, count }, 'waiting for writes of a previous worker'),
  );
}

interface Start {
  readonly head: HeadRange;
  /** The first block of the index. */
  readonly floor: number;
}

/** Decides where to continue: after the last checkpoint following a short pause, near the tip after a long one or the first time. */
async function pickUp(deps: FollowDeps, progress: Progress): Promise<Start> {
  const finalBefore = deps.status.snapshot().finalizedBlock;
  const tip = await askTip(deps);
  const stored = progress.head === null ? null : await resumeHead(deps, progress.head, finalBefore);
  const covered = mergeRanges([
    ...progress.backfilled,
    ...(stored ? [{ from: stored.start, to: stored.end }] : []),
  ]);
  const floor = floorOf(deps.config.startBlock, tip, covered);
  if (stored && stored.end + CATCH_UP_BY_FOLLOWING_MAX_BLOCKS >= tip.finalized.number) {
    return { head: stored, floor: Math.min(floor, stored.start) };
  }
  const head = await startHead(deps, stored, tip.finalized);
  return { head, floor: Math.min(floor, head.start) };
}

async function askTip(deps: FollowDeps): Promise<{ readonly head: BlockRef; readonly finalized: BlockRef }> {
  const tip = await deps.source.tip();
  deps.status.sourceAnswered();
  deps.status.sawTip(tip);
  return tip;
}

/**
 * Restart and reorg share one path: every live row above the last block that the chain still contains is retracted. Blocks are
 * remembered down to the previously final one, and the end of the range in any case, because the others may have expired in the pause.
 */
async function resumeHead(deps: FollowDeps, head: HeadRange, finalBefore: number): Promise<HeadRange> {
  const from = Math.max(Math.min(finalBefore, head.end), head.end - REMEMBERED_BLOCKS_MAX, 0);
  const stored = await deps.acknowledged(() => deps.checkpoints.loadBlocks(from, head.end));
  deps.known.remember([...stored, { number: head.end, hash: head.hash, time: 0 }]);
  for (;;) {
    try {
      const tip = await askTip(deps);
      return await retractTo(deps, head, await ancestorOf(deps, head, tip.head));
    } catch (error) {
      if (!(error instanceof NodeBehind)) throw error;
      deps.log.warn({ chain: deps.config.chain }, error.message);
      await waitForNextHead(deps);
    }
  }
}

/**
 * Begins a new head range right above the final block. What may be live above it (rows of a run whose checkpoint no longer
 * counts) is retracted first.
 */
async function startHead(
  deps: FollowDeps,
  retired: HeadRange | null,
  finalized: BlockRef,
): Promise<HeadRange> {
  const head: HeadRange = { start: finalized.number + 1, end: finalized.number, hash: finalized.hash };
  await deps.acknowledged(() => deps.checkpoints.saveBlocks([finalized]));
  await deps.acknowledged(() => deps.checkpoints.restartHead(retired, head));
  await deps.retract(finalized);
  deps.known.remember([finalized]);
  deps.status.finalized(finalized);
  deps.status.indexed(finalized);
  return head;
}

/** Where the index begins. A relative start counts from today's tip, but never opens a hole below the ranges that are indexed already. */
function floorOf(
  startBlock: number,
  tip: { readonly head: BlockRef; readonly finalized: BlockRef },
  covered: readonly BlockRange[],
): number {
  if (startBlock >= 0) return Math.min(startBlock, tip.finalized.number + 1);
  const relative = Math.max(0, tip.head.number + startBlock);
  return Math.min(relative, tip.finalized.number + 1, covered[0]?.from ?? Number.POSITIVE_INFINITY);
}
