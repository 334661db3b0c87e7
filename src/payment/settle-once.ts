import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentRecord } from '../accounts/store.ts';
import type { Testimony, WitnessQuestion } from './chain-witness.ts';
import { leaveOpen } from './claim.ts';
import type { Settling } from './facilitator.ts';
import { EXPIRY_MARGIN_MS, type LaneTools } from './lane-tools.ts';
import { type Purchase, toSettle, toVerify, toWitness } from './purchase.ts';
import { ended, facilitatorUnavailable, settlementFailed, settlementUnknown } from './refusals.ts';
import { noWitness } from './rpc-witness.ts';

/**
 * The one settlement of a claimed payment, and what is done when its outcome stays open. The chain's word counts more than the
 * facilitator's, in both directions; where the chain says nothing, the facilitator we chose is believed, and an outcome that it
 * left open stays open.
 */

/** A silent witness is asked twice: a node may drop one request. */
const SILENT_LOOKS_MAX = 2;

/** Resolves with the settlement's transaction. Throws when there is none or none is known; then the claim is dropped or stays. */
export async function settleOnce(
  lane: LaneTools,
  purchase: Purchase,
  record: PaymentRecord,
): Promise<string> {
  const settling = await lane.facilitator.settle(toSettle(purchase));
  switch (settling.outcome) {
    case 'settled':
      return confirm(lane, purchase, record, settling.transaction);
    case 'unsent':
      lane.log.warn(
        { err: settling.cause, payment: purchase.id },
        'the facilitator cannot be asked to settle',
      );
      await dropClaim(lane, purchase);
      throw facilitatorUnavailable(settling.cause);
    case 'failed':
      return afterFailure(lane, purchase, record, settling);
    case 'doubtful':
      return afterDoubt(lane, purchase, record, settling);
    case 'unknown':
      return afterUnknown(lane, purchase, record, settling);
  }
}

/** The facilitator says that it settled. A chain that can be asked and does not show it is believed. */
async function confirm(
  lane: LaneTools,
  purchase: Purchase,
  record: PaymentRecord,
  transaction: string,
): Promise<string> {
  const testimony = await watch(lane, toWitness(purchase, record.claimedAtMs, transaction));
  switch (testimony.outcome) {
    case 'settled':
      return testimony.transaction;
    case 'silent':
      if (lane.witnessFor(purchase.id.chain) !== noWitness)
        lane.log.warn(
          { payment: purchase.id, transaction },
          'a settlement is taken on the facilitator’s word',
        );
      return transaction;
    case 'spent_otherwise':
      lane.log.error(
        { payment: purchase.id, transaction },
        'the facilitator claims a settlement to somebody else',
      );
      await dropClaim(lane, purchase);
      throw settlementFailed(purchase.quote, null, true);
    case 'unsettled':
      lane.log.error(
        { payment: purchase.id, transaction },
        'the facilitator claims a settlement that is not on chain',
      );
      throw await giveUp(lane, record, { testimony, transaction });
  }
}

/** The facilitator says that nothing was settled; it may be wrong about a transaction that it lost sight of. */
async function afterFailure(
  lane: LaneTools,
  purchase: Purchase,
  record: PaymentRecord,
  { reason }: Extract<Settling, { outcome: 'failed' }>,
): Promise<string> {
  const { id, quote } = purchase;
  lane.log.warn({ payment: id, reason }, 'a settlement failed');
  const testimony = await lane.witnessFor(id.chain).lookUp(toWitness(purchase, record.claimedAtMs));
  if (testimony.outcome === 'settled') return testimony.transaction;
  await dropClaim(lane, purchase);
  throw settlementFailed(quote, reason, testimony.outcome === 'spent_otherwise');
}

/**
 * The facilitator says that nothing was settled and may have lost sight of a transaction. Where the chain has not seen it
 * and the facilitator would not even verify it any more, for want of money for example, it failed.
 */
async function afterDoubt(
  lane: LaneTools,
  purchase: Purchase,
  record: PaymentRecord,
  { reason }: Extract<Settling, { outcome: 'doubtful' }>,
): Promise<string> {
  const testimony = await watch(lane, toWitness(purchase, record.claimedAtMs));
  if (testimony.outcome === 'unsettled') {
    const verdict = await lane.facilitator.verify(toVerify(purchase));
    if (verdict.outcome === 'invalid')
      return afterFailure(lane, purchase, record, { outcome: 'failed', reason: verdict.reason });
  }
  return conclude(lane, purchase, record, { testimony, reason });
}

async function afterUnknown(
  lane: LaneTools,
  purchase: Purchase,
  record: PaymentRecord,
  { reason, cause }: Extract<Settling, { outcome: 'unknown' }>,
): Promise<string> {
  lane.log.warn({ err: cause, payment: purchase.id, reason }, 'the outcome of a settlement is not known');
  const testimony = await watch(lane, toWitness(purchase, record.claimedAtMs));
  return conclude(lane, purchase, record, { testimony, reason, cause });
}

/** Where only the chain can say what happened. */
async function conclude(
  lane: LaneTools,
  purchase: Purchase,
  record: PaymentRecord,
  { testimony, ...rest }: { testimony: Testimony; reason: string | null; cause?: unknown },
): Promise<string> {
  if (testimony.outcome === 'settled') return testimony.transaction;
  if (testimony.outcome !== 'spent_otherwise') throw await giveUp(lane, record, { testimony, ...rest });
  await dropClaim(lane, purchase);
  throw settlementFailed(purchase.quote, rest.reason, true);
}

/** What became of a claim whose process is gone or gave up. Nothing is settled here. */
export async function learnOutcome(
  lane: LaneTools,
  purchase: Purchase,
  record: PaymentRecord,
): Promise<string> {
  const { claimedAtMs, saidTransaction } = record;
  const question = toWitness(purchase, claimedAtMs, saidTransaction ?? undefined);
  const testimony = await lane.witnessFor(purchase.id.chain).lookUp(question);
  if (testimony.outcome === 'settled') return testimony.transaction;
  if (!isDead(testimony, record, lane.clock.nowMs()))
    throw unknownOutcome(record, { testimony, transaction: saidTransaction });
  await dropClaim(lane, purchase);
  throw ended(purchase.quote, purchase.terms);
}

/** Whether it is certain that the authorization will never pay us. */
export function isDead(
  { outcome }: Testimony,
  { expiresAtMs }: Pick<PaymentRecord, 'expiresAtMs'>,
  nowMs: number,
): boolean {
  return (
    outcome === 'spent_otherwise' || (outcome === 'unsettled' && expiresAtMs + EXPIRY_MARGIN_MS <= nowMs)
  );
}

/** Asks the chain until it has something final to say, or the wait is over. */
async function watch({ witnessFor, limits }: LaneTools, question: WitnessQuestion): Promise<Testimony> {
  const witness = witnessFor(question.id.chain);
  const deadline = performance.now() + limits.witnessWaitMs;
  for (let silent = 0; ; ) {
    const testimony = await witness.lookUp(question);
    if (testimony.outcome === 'settled' || testimony.outcome === 'spent_otherwise') return testimony;
    silent += testimony.outcome === 'silent' ? 1 : 0;
    if (witness === noWitness || silent >= SILENT_LOOKS_MAX || performance.now() >= deadline)
      return testimony;
    await sleep(limits.witnessPollMs);
  }
}

interface LastWord {
  readonly testimony: Testimony;
  /** What the facilitator said it was, where nothing confirms it. */
  readonly transaction?: string | null;
  readonly reason?: string | null;
  readonly cause?: unknown;
}

/** The failure to answer with. The claim stays; the record says that no request is using the payment any more. */
async function giveUp(lane: LaneTools, record: PaymentRecord, last: LastWord): Promise<Error> {
  await leaveOpen(lane, record.id, last.transaction ?? null);
  return unknownOutcome(record, last);
}

function unknownOutcome({ id, claimedAtMs }: PaymentRecord, { testimony, ...rest }: LastWord): Error {
  const isReadable = testimony.outcome === 'unsettled';
  return settlementUnknown({ id, sinceMs: claimedAtMs, isReadable, ...rest });
}

/** A claim that cannot be dropped now is left to the sweeper: the answer stands, because nothing was charged. */
async function dropClaim({ store, log }: LaneTools, { id }: Purchase): Promise<void> {
  try {
    await store.dropClaim(id);
  } catch {
    log.warn({ payment: id }, 'a claim could not be dropped and is left to the sweeper');
  }
}
