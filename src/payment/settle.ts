import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentRecord } from '../accounts/payment-store.ts';
import { type ChainFinding, noConfirmer, type SettlementQuestion } from './confirm.ts';
import type { Settling } from './facilitator.ts';
import type { LaneDeps } from './payment-lane.ts';
import { type Purchase, toConfirm, toVerify } from './purchase.ts';
import { leaveOpen } from './record.ts';
import { ended, facilitatorUnavailable, settlementFailed, settlementUnknown } from './refusals.ts';

/**
 * The outcome of a claimed payment that the facilitator was asked to settle, once. The chain overrides the facilitator, in both
 * directions; where the chain shows nothing, the facilitator that the operator chose is believed, and an outcome that it left open
 * stays open.
 */

/** A confirmer that finds nothing is asked twice: a node may drop one request. */
const SILENT_LOOKS_MAX = 2;
/** How long after its `validBefore` an authorization counts as dead: block times and clocks differ. */
const EXPIRY_MARGIN_MS = 5 * 60_000;

/** Such a verdict rests on a simulation, which also fails because the payment has just settled. */
const SIMULATED = '_simulation_failed';

/** A claim with the facilitator's answer to its settlement. */
interface Attempt<Answer extends Settling = Settling> {
  readonly purchase: Purchase;
  readonly record: PaymentRecord;
  readonly settling: Answer;
}

type AttemptThat<Outcome extends Settling['outcome']> = Attempt<Extract<Settling, { outcome: Outcome }>>;

/** Resolves with the settlement's transaction. Throws when there is none or none is known; then the claim is dropped or stays. */
export async function confirmSettlement(lane: LaneDeps, attempt: Attempt): Promise<string> {
  const { purchase, record, settling } = attempt;
  switch (settling.outcome) {
    case 'settled':
      return confirmClaimed(lane, { purchase, record, settling });
    case 'unsent':
      lane.log.warn(
        { err: settling.cause, payment: purchase.id },
        'the facilitator cannot be asked to settle',
      );
      await dropClaim(lane, purchase);
      throw facilitatorUnavailable(settling.cause);
    case 'failed':
      return afterFailure(lane, { purchase, record, settling });
    case 'doubtful':
      return afterDoubt(lane, { purchase, record, settling });
    case 'unknown':
      return afterUnknown(lane, { purchase, record, settling });
  }
}

/** The facilitator says that it settled. A chain that can be read and does not show it is believed instead. */
async function confirmClaimed(
  lane: LaneDeps,
  { purchase, record, settling: { transaction } }: AttemptThat<'settled'>,
): Promise<string> {
  const { log } = lane;
  const { id } = purchase;
  const finding = await watchChain(lane, toConfirm(purchase, record.claimedAtMs, transaction));
  switch (finding.outcome) {
    case 'settled':
      return finding.transaction;
    case 'silent':
      if (lane.confirmerFor(id.chain) !== noConfirmer)
        log.warn({ payment: id, transaction }, 'a settlement is taken on the facilitator’s word');
      return transaction;
    case 'spent_otherwise':
      log.error({ payment: id, transaction }, 'the facilitator claims a settlement to another payee');
      await dropClaim(lane, purchase);
      throw settlementFailed(purchase.quote, null, true);
    case 'ended':
      log.error({ payment: id, transaction }, 'the facilitator claims a settlement that the chain refused');
      await dropClaim(lane, purchase);
      throw settlementFailed(purchase.quote, null, false);
    case 'unsettled':
      log.error({ payment: id, transaction }, 'the facilitator claims a settlement that is not on chain');
      throw await giveUp(lane, record, { finding, transaction });
  }
}

/** The facilitator says that nothing was settled; it may be wrong about a transaction that it lost track of. */
async function afterFailure(
  lane: LaneDeps,
  { purchase, record, settling: { reason } }: AttemptThat<'failed'>,
): Promise<string> {
  const { id, quote } = purchase;
  lane.log.warn({ payment: id, reason }, 'a settlement failed');
  const finding = await lane.confirmerFor(id.chain).lookUp(toConfirm(purchase, record.claimedAtMs));
  if (finding.outcome === 'settled') return finding.transaction;
  await dropClaim(lane, purchase);
  throw settlementFailed(quote, reason, finding.outcome === 'spent_otherwise');
}

/**
 * The facilitator says that nothing was settled and may have lost track of a transaction. Where the chain does not show it and
 * the facilitator would not even verify the payment any more, for want of money for example, the settlement failed.
 */
async function afterDoubt(
  lane: LaneDeps,
  { purchase, record, settling: { reason } }: AttemptThat<'doubtful'>,
): Promise<string> {
  const finding = await watchChain(lane, toConfirm(purchase, record.claimedAtMs));
  if (finding.outcome === 'unsettled') {
    const verdict = await lane.facilitator.verify(toVerify(purchase));
    if (verdict.outcome === 'invalid' && verdict.reason?.endsWith(SIMULATED) !== true)
      return afterFailure(lane, {
        purchase,
        record,
        settling: { outcome: 'failed', reason: verdict.reason },
      });
  }
  return conclude(lane, { purchase, record }, { finding, reason });
}

async function afterUnknown(
  lane: LaneDeps,
  { purchase, record, settling: { reason, cause } }: AttemptThat<'unknown'>,
): Promise<string> {
  lane.log.warn({ err: cause, payment: purchase.id, reason }, 'the outcome of a settlement is not known');
  const finding = await watchChain(lane, toConfirm(purchase, record.claimedAtMs));
  return conclude(lane, { purchase, record }, { finding, reason, cause });
}

/** Where only the chain can say what happened. */
async function conclude(
  lane: LaneDeps,
  { purchase, record }: Pick<Attempt, 'purchase' | 'record'>,
  last: LastFinding & { readonly reason: string | null },
): Promise<string> {
  const { finding, reason } = last;
  if (finding.outcome === 'settled') return finding.transaction;
  if (!isFinal(finding)) throw await giveUp(lane, record, last);
  await dropClaim(lane, purchase);
  throw settlementFailed(purchase.quote, reason, finding.outcome === 'spent_otherwise');
}

/** Finds out the outcome of a claim whose process died or gave up. Settles nothing. */
export async function learnOutcome(
  lane: LaneDeps,
  purchase: Purchase,
  record: PaymentRecord,
): Promise<string> {
  const { claimedAtMs, saidTransaction } = record;
  const question = toConfirm(purchase, claimedAtMs, saidTransaction ?? undefined);
  const finding = await lane.confirmerFor(purchase.id.chain).lookUp(question);
  if (finding.outcome === 'settled') return finding.transaction;
  if (!isDead(finding, record, lane.clock.nowMs()))
    throw unknownOutcome(record, { finding, transaction: saidTransaction });
  await dropClaim(lane, purchase);
  throw ended(purchase.quote, purchase.terms);
}

/** Whether it is certain that the payment, which has not settled, never will. */
function isDead(
  finding: ChainFinding,
  { expiresAtMs }: Pick<PaymentRecord, 'expiresAtMs'>,
  nowMs: number,
): boolean {
  return isFinal(finding) || (finding.outcome === 'unsettled' && expiresAtMs + EXPIRY_MARGIN_MS <= nowMs);
}

/** Whether no later look can find anything else. */
function isFinal({ outcome }: ChainFinding): boolean {
  return outcome !== 'unsettled' && outcome !== 'silent';
}

/** Asks the chain until it shows something final, or the wait is over. */
async function watchChain(
  { confirmerFor, limits }: LaneDeps,
  question: SettlementQuestion,
): Promise<ChainFinding> {
  const confirmer = confirmerFor(question.id.chain);
  const deadlineMs = performance.now() + limits.confirmWaitMs;
  for (let silent = 0; ; ) {
    const finding = await confirmer.lookUp(question);
    if (isFinal(finding)) return finding;
    silent += finding.outcome === 'silent' ? 1 : 0;
    if (confirmer === noConfirmer || silent >= SILENT_LOOKS_MAX || performance.now() >= deadlineMs)
      return finding;
    await sleep(limits.confirmPollMs);
  }
}

interface LastFinding {
  readonly finding: ChainFinding;
  /** The transaction that the facilitator named, where nothing confirms it. */
  readonly transaction?: string | null;
  readonly reason?: string | null;
  readonly cause?: unknown;
}

/** The failure to answer with. The claim stays, and its record says that no request is using the payment any more. */
async function giveUp(lane: LaneDeps, record: PaymentRecord, last: LastFinding): Promise<Error> {
  await leaveOpen(lane, record.id, last.transaction ?? null);
  return unknownOutcome(record, last);
}

function unknownOutcome({ id, claimedAtMs }: PaymentRecord, { finding, ...rest }: LastFinding): Error {
  const isReadable = finding.outcome === 'unsettled';
  return settlementUnknown({ id, sinceMs: claimedAtMs, isReadable, ...rest });
}

/** A claim that cannot be dropped now is left to the sweeper: the answer stands, because nothing was charged. */
async function dropClaim({ store, log }: LaneDeps, { id }: Purchase): Promise<void> {
  try {
    await store.payments.dropClaim(id);
  } catch {
    log.warn({ payment: id }, 'a claim could not be dropped and is left to the sweeper');
  }
}

export type UnsettledDeps = Pick<LaneDeps, 'confirmerFor' | 'clock' | 'log'> & {
  readonly store: Pick<LaneDeps['store'], 'payments'>;
};

/** What one pass did. `left`: the chain has not shown anything final yet. */
export interface ResolvedPayments {
  readonly settled: number;
  readonly dropped: number;
  readonly left: number;
  /** Where the next pass goes on; null at the end of the list. */
  readonly next: PaymentRecord | null;
}

/** Payments looked at in one pass, unless the caller says otherwise. */
const PASS_MAX = 500;

/**
 * Asks the chain about payments whose settlement began and whose outcome was never recorded: a process died, or the facilitator
 * left it open. A payment that settled waits for its payer as `settled`; a payment that never will settle is forgotten. Rejects with `StoreUnavailable`.
 * `after` is where the pass before ended: payments of a chain that does not answer must not hide those behind them for ever.
 */
export async function resolveUnsettled(
  deps: UnsettledDeps,
  limit: number = PASS_MAX,
  after: PaymentRecord | null = null,
): Promise<ResolvedPayments> {
  const { store, clock, log } = deps;
  const counts = { settled: 0, dropped: 0, left: 0 };
  const page = await store.payments.unresolved({ nowMs: clock.nowMs(), after, limit });
  for (const record of page) counts[await resolveOne(deps, record)] += 1;
  if (counts.settled + counts.dropped > 0) log.info(counts, 'payments of unknown outcome were resolved');
  return { ...counts, next: page.length < limit ? null : (page.at(-1) ?? null) };
}

async function resolveOne(
  { store: { payments }, confirmerFor, clock }: UnsettledDeps,
  record: PaymentRecord,
): Promise<'settled' | 'dropped' | 'left'> {
  const { id, payTo, amount, claimedAtMs, saidTransaction } = record;
  const claimed = saidTransaction === null ? {} : { claimed: saidTransaction };
  const finding = await confirmerFor(id.chain).lookUp({
    id,
    payTo,
    amount,
    sinceMs: claimedAtMs,
    ...claimed,
  });
  if (finding.outcome === 'settled') {
    await payments.recordSettlement({ id, transaction: finding.transaction });
    return 'settled';
  }
  if (!isDead(finding, record, clock.nowMs())) return 'left';
  await payments.dropClaim(id);
  return 'dropped';
}
