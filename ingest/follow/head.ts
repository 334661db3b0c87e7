import { setTimeout as delay } from 'node:timers/promises';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Log } from '../../core/log.ts';
import { type BlockRef, type ChainTip, ReadAbandoned } from '../chain/block-source.ts';
import type { Checkpoints, HeadRange } from '../write/checkpoints.ts';
import type { ChainStatus } from './chain-status.ts';
import type { Pipeline, ReadBatch } from './pipeline.ts';
import { type AncestorSearch, findAncestor, type KnownBlocks, NodeBehind } from './reorg.ts';

/**
 * Follows the tip of one chain, window by window, each linked by parent hash to the previous one. A missing link is a reorg: retract
 * down to the common ancestor and continue from there.
 */

export interface FollowDeps {
  readonly config: ChainConfig;
  readonly source: ChainTip;
  readonly pipeline: Pipeline;
  readonly checkpoints: Checkpoints;
  readonly status: ChainStatus;
  readonly known: KnownBlocks;
  /** `next` is called when the node announces a block; `waitForNextHead` sets it. */
  readonly heads: { next: () => void };
  /** Retracts above a block, until acknowledged. */
  readonly retract: (ancestor: BlockRef | { number: number; time: number }) => Promise<void>;
  /** Repeats an idempotent write until acknowledged. */
  readonly acknowledged: <T>(attempt: () => Promise<T>) => Promise<T>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Blocks per window near the tip: small enough that a reorg repeats little, large enough to catch up. */
const FOLLOW_WINDOW_MAX_BLOCKS = 200;
/** Blocks after which the tip is read again: during a long catch-up both tip and finality move. */
const ADVANCE_MAX_BLOCKS = 2_000;
/** At the tip a window takes in the blocks of so long, or of a poll interval where that is shorter: each window is a dozen small inserts. */
const TIP_WINDOW_MS = 1_000;
/**
 * A tip below ours is usually a lagging node. Only if the chain stays shorter for this long, without one contrary answer, are the blocks
 * considered lost.
 */
const SHORTER_CHAIN_PATIENCE_MS = 10_000;

/** Runs until the signal aborts, or throws `ReorgBelowFinality`. */
export async function followHead(deps: FollowDeps, start: HeadRange): Promise<void> {
  let head = start;
  let shorterSinceMs: number | null = null;
  while (!deps.signal.aborted) {
    const lookedMs = performance.now();
    const tip = await deps.source.tip();
    deps.status.sourceAnswered();
    deps.status.sawTip(tip);
    shorterSinceMs = tip.head.number < head.end ? (shorterSinceMs ?? performance.now()) : null;
    const next = await step(deps, head, tip.head, shorterSinceMs);
    // Only now do our blocks link to the tip. Before, they may belong to a lost fork whose heights have become final since: they
    // are then not final themselves, and the older ones are needed to find the common ancestor.
    if (next.hash === tip.head.hash) {
      deps.status.finalized(tip.finalized);
      deps.known.forgetBelow(tip.finalized.number);
    }
    // Nothing can be done now: two nodes that contradict each other must not make this loop spin.
    if (next.end === head.end && next.hash === head.hash) await waitForNextHead(deps);
    else if (next.hash === tip.head.hash) await untilNextWindow(deps, lookedMs);
    head = next;
  }
}

async function step(
  deps: FollowDeps,
  head: HeadRange,
  tip: BlockRef,
  shorterSinceMs: number | null,
): Promise<HeadRange> {
  if (hasForked(deps, head, tip, shorterSinceMs)) return rewind(deps, head, tip);
  if (tip.number > head.end) return advance(deps, head, Math.min(tip.number, head.end + ADVANCE_MAX_BLOCKS));
  return head;
}

/** Whether the chain no longer contains the block that our range ends with. */
function hasForked(deps: FollowDeps, head: HeadRange, tip: BlockRef, shorterSinceMs: number | null): boolean {
  if (head.end < head.start) return false;
  if (tip.number === head.end) return tip.hash !== head.hash;
  if (tip.number > head.end) return false; // the parent link of the next window will show it
  if (shorterSinceMs !== null && performance.now() - shorterSinceMs > SHORTER_CHAIN_PATIENCE_MS) return true;
  const ours = deps.known.hashAt(tip.number);
  return ours !== undefined && ours !== tip.hash;
}

/** Indexes up to `target`, window by window, reading the next window while the last one is written. Stops early at a fork. */
async function advance(deps: FollowDeps, from: HeadRange, target: number): Promise<HeadRange> {
  let head = from;
  let reading = readNext(deps, head.end, target);
  while (reading !== null && !deps.signal.aborted) {
    const batch = await unlessAbandoned(reading);
    if (batch === null) return head;
    if (batch.blocks[0]?.parentHash !== head.hash) return rewind(deps, head, null);
    reading = readNext(deps, batch.to, target);
    // A rejection of the next read is handled later: the current batch is stored and checkpointed first.
    reading?.catch(() => undefined);
    head = await settleWindow(deps, head, batch);
  }
  return head;
}

/** Null if the window could not be read: the chain may have become shorter, so the tip is read again. */
async function unlessAbandoned(reading: Promise<ReadBatch>): Promise<ReadBatch | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ReadAbandoned) return null;
    throw error;
  }
}

function readNext(deps: FollowDeps, end: number, target: number): Promise<ReadBatch> | null {
  if (end >= target) return null;
  const to = Math.min(target, end + Math.min(FOLLOW_WINDOW_MAX_BLOCKS, deps.config.logWindowMax));
  return deps.pipeline.read(end + 1, to, { freshStartsMax: 1, everyHeader: true });
}

/** Rows first, then the blocks for later reorgs, then the checkpoint: the order that makes a crash harmless. */
async function settleWindow(deps: FollowDeps, head: HeadRange, batch: ReadBatch): Promise<HeadRange> {
  const last = batch.blocks.at(-1);
  if (last?.number !== batch.to)
    throw new Error(`source answered a window without its last block ${batch.to}`);
  await deps.pipeline.store(batch);
  await deps.acknowledged(() => deps.checkpoints.saveBlocks(batch.blocks));
  const next: HeadRange = { start: head.start, end: batch.to, hash: last.hash };
  await deps.acknowledged(() => deps.checkpoints.saveHead(next));
  deps.known.remember(batch.blocks);
  deps.status.indexed(last);
  return next;
}

/** Goes back to the common ancestor. Leaves the range unchanged if there is nothing to undo or the node merely lags. */
async function rewind(deps: FollowDeps, head: HeadRange, tip: BlockRef | null): Promise<HeadRange> {
  try {
    const ancestor = await ancestorOf(deps, head, tip);
    return ancestor.number === head.end ? head : await retractTo(deps, head, ancestor);
  } catch (error) {
    if (!(error instanceof NodeBehind)) throw error;
    deps.log.warn({ chain: deps.config.chain }, error.message);
    return head;
  }
}

/** The newest block of our range, or the one before it, that the chain still contains. Throws `NodeBehind` and `ReorgBelowFinality`. */
export async function ancestorOf(deps: FollowDeps, head: HeadRange, tip: BlockRef | null): Promise<BlockRef> {
  const search: AncestorSearch = { source: deps.source, known: deps.known, floor: head.start - 1 };
  const ancestor = await findAncestor(search, Math.min(head.end, tip?.number ?? head.end));
  deps.status.sourceAnswered();
  return ancestor;
}

/**
 * Ends the range at `ancestor` and retracts every row above it. The checkpoint goes first: a crash between the two then leaves rows
 * without a checkpoint, which the next start retracts, and never a checkpoint without rows.
 */
export async function retractTo(deps: FollowDeps, head: HeadRange, ancestor: BlockRef): Promise<HeadRange> {
  const depth = head.end - ancestor.number;
  if (depth > 0) {
    deps.log.warn({ chain: deps.config.chain, depth, ancestor: ancestor.number }, 'reorg: retracting blocks');
    deps.status.reorged(depth);
  }
  const next: HeadRange = { start: head.start, end: ancestor.number, hash: ancestor.hash };
  await deps.acknowledged(() => deps.checkpoints.saveHead(next));
  await deps.retract(ancestor);
  deps.known.forgetAbove(ancestor.number);
  deps.status.indexed(ancestor);
  return next;
}

async function untilNextWindow({ config, signal }: FollowDeps, lookedMs: number): Promise<void> {
  // Each window of fee payers costs a request for each of them.
  const windowMs =
    config.completeness === 'fee-payers' ? config.pollMs : Math.min(TIP_WINDOW_MS, config.pollMs);
  await delay(Math.max(0, lookedMs + windowMs - performance.now()), undefined, { signal }).catch(
    () => undefined, // the loop ends
  );
}

/** A poll interval, or less when the node announces a block. */
export async function waitForNextHead({ config, heads, signal }: FollowDeps): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      heads.next = () => undefined;
      resolve();
    };
    const timer = setTimeout(done, config.pollMs);
    signal.addEventListener('abort', done, { once: true });
    heads.next = done;
  });
  signal.throwIfAborted();
}
