import type { BlockRef } from '../block-source.ts';
import { list, refOf } from '../read-answers.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import type { Question, RpcPool } from '../rpc/pool.ts';
import { type HeaderAnswer, readHeader, slot } from './read-block.ts';
import { checkFirst, checkSlots, skippedSlot } from './slots.ts';

/** What nodes of Solana are asked about blocks, and what follows from a few answers together. Finalized blocks alone. */

export const COMMITMENT = { commitment: 'finalized' } as const;
export const FINALIZED: Question<number> = {
  method: 'getSlot',
  params: [COMMITMENT],
  read: (result) => slot(result, 'finalized slot'),
};

/** Version 0 is the newest. A node refuses a block with a newer one (-32015), which must not be passed over. */
const BLOCK_OPTIONS = {
  ...COMMITMENT,
  encoding: 'json',
  rewards: false,
  maxSupportedTransactionVersion: 0,
} as const;

/** Another node may know the time of a block that one does not. */
const TIME_ATTEMPTS_MAX = 3;

export function blockQuestion<Answer extends HeaderAnswer>(
  number: number,
  transactionDetails: 'full' | 'signatures' | 'none',
  read: (result: unknown) => Answer,
): Question<Answer> {
  let attempts = 0;
  return {
    method: 'getBlock',
    params: [number, { ...BLOCK_OPTIONS, transactionDetails }],
    read(result) {
      const answer = read(result);
      attempts += 1;
      if (answer.time === null && attempts < TIME_ATTEMPTS_MAX)
        throw new RpcFailure('absent', `the node has no time of slot ${number}`);
      return answer;
    },
  };
}

export function headerQuestion(number: number): Question<HeaderAnswer> {
  return blockQuestion(number, 'none', (result) => readHeader(result, number));
}

/** The slots of a range that have a block, by the node. */
export function slotsQuestion(from: number, to: number): Question<readonly number[]> {
  return {
    method: 'getBlocks',
    params: [from, to, COMMITMENT],
    read(result) {
      const slots = list(result, 'slots').map((entry) => slot(entry, 'slot', to));
      if (slots.some((number, at) => number < (at === 0 ? from : (slots[at - 1] ?? 0) + 1)))
        throw new ProviderContradiction('malformed', `the slots from ${from} to ${to} do not ascend`);
      return slots;
    },
  };
}

/** How far behind a range a block after it is looked for at once; a few slots in a row are skipped often. */
export const LOOK_AHEAD_SLOTS = 64;
/** As far as a node answers in one call; after a halt of the whole chain thousands of slots have no block. */
const LOOK_AHEAD_MAX_SLOTS = 100_000;

/** The first block from a slot on. */
export async function firstFrom(pool: RpcPool, from: number): Promise<number> {
  const [near] = await pool.ask(slotsQuestion(from, from + LOOK_AHEAD_SLOTS));
  if (near !== undefined) return near;
  const far = slotsQuestion(from, from + LOOK_AHEAD_MAX_SLOTS);
  return pool.ask({
    ...far,
    read(result) {
      const [first] = far.read(result);
      // The tip itself has a block: this node is behind it.
      if (first === undefined) throw new RpcFailure('absent', `the node has no block from slot ${from} on`);
      return first;
    },
  });
}

/** Answers that contradict each other: which one is wrong is not known, so every URL that gave one rests. */
export function trusting(pool: RpcPool, answers: readonly object[], check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof ProviderContradiction) pool.distrust(error, answers);
    throw error;
  }
}

/** Blocks without a time in a row. */
const TIMELESS_MAX = 100;

/**
 * The time of a block; of one that has none, that of the nearest block before it that has one. Not of one after it, nor a mean: every read of
 * the block, in whatever window, must come to the same time, because the time is a part of the rows' key.
 */
export async function timeOf(pool: RpcPool, number: number): Promise<number> {
  for (let at = number, steps = 0; steps < TIMELESS_MAX; steps++) {
    const { time, parentNumber } = await pool.ask(headerQuestion(at));
    if (time !== null) return time;
    at = parentNumber;
  }
  throw new RpcFailure('absent', `the node has no time of ${TIMELESS_MAX} blocks before slot ${number}`);
}

/** The block at a slot that has one. */
export async function refAt(pool: RpcPool, number: number): Promise<BlockRef> {
  const header = await pool.ask(headerQuestion(number));
  return refOf({ ...header, time: header.time ?? (await timeOf(pool, header.parentNumber)) });
}

/** What stands at a slot: its block, or the one before it. */
export async function standingAt(pool: RpcPool, number: number): Promise<BlockRef> {
  const first = await firstFrom(pool, number);
  if (first === number) return refAt(pool, number);
  const header = await pool.ask(headerQuestion(first));
  const before = await pool.ask(headerQuestion(header.parentNumber));
  trusting(pool, [header, before], () => {
    checkFirst(number, header);
    checkSlots([before, header]);
  });
  const time = before.time ?? (await timeOf(pool, before.parentNumber));
  return refOf(skippedSlot(number, { ...before, time }));
}
