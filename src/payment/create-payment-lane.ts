import type { PaymentRecord, PaymentStore } from '../control/control-store.ts';
import { DEFAULT_LANE_LIMITS, type LaneLimits, type LaneTools } from './lane-tools.ts';
import { findFault } from './match-payment.ts';
import { offerOf, quoteOf } from './offer.ts';
import type { Order, PaidCall, PaymentLane } from './payment-lane.ts';
import { expiryMs, type Purchase, readPurchase, toSettle } from './purchase.ts';
import { facilitatorUnavailable, inProgress, rejected, spent, unacceptable } from './refusals.ts';
import { recordSettlement, serve } from './serve-payment.ts';
import { learnOutcome, settleOnce } from './settle-once.ts';

export type PaymentLaneParts = Omit<LaneTools, 'limits'> & {
  /** Tests wait less. */
  readonly limits?: Partial<LaneLimits>;
};

/** Between the end of a settlement's time and the lapse of its lease: the last look at the chain and our own steps. */
const LEASE_SLACK_MS = 15_000;

/**
 * The x402 lane: read, find, check, verify, claim, settle once, see it on chain, record, serve. A payment is claimed before it
 * is settled and recorded before it is served, so that whoever dies when, it is settled once and answers one request.
 * Rejects with `StoreUnavailable` where the store does not answer before money moved.
 */
export function createPaymentLane({ limits, ...parts }: PaymentLaneParts): PaymentLane {
  const lane: LaneTools = { ...parts, limits: { ...DEFAULT_LANE_LIMITS, ...limits } };
  return {
    offer: (order) => offerOf(quoteOf(order, lane.config), 'payment_required'),
    take: (order, { payment }) => take(lane, order, payment),
  };
}

async function take(lane: LaneTools, order: Order, header: string): Promise<PaidCall> {
  const purchase = readPurchase(quoteOf(order, lane.config), header);
  const known = await lane.store.find(purchase.id);
  if (known !== null) return resume(lane, purchase, known);
  const fault = findFault(purchase.payment, purchase.terms, { order, nowMs: lane.clock.nowMs() });
  if (fault !== null) throw unacceptable(purchase.quote, fault);
  const meanwhile = await verify(lane, purchase);
  if (meanwhile !== null) return resume(lane, purchase, meanwhile);
  const { outcome, record } = await claim(lane, purchase);
  if (outcome === 'taken') return resume(lane, purchase, record);
  const transaction = await settleOnce(lane, purchase, record);
  await recordSettlement(lane, purchase, transaction);
  return serve(lane, purchase, transaction);
}

/** Null when the facilitator finds nothing wrong; the record when a duplicate of this request was faster. */
async function verify(lane: LaneTools, purchase: Purchase): Promise<PaymentRecord | null> {
  const verdict = await lane.facilitator.verify(toSettle(purchase));
  if (verdict.outcome === 'valid') return null;
  if (verdict.outcome === 'unreachable') {
    lane.log.warn({ err: verdict.cause }, 'the facilitator cannot be asked to verify');
    throw facilitatorUnavailable(verdict.cause);
  }
  // A duplicate that was settled between our look and the facilitator's is "nonce already used" to it.
  const record = await lane.store.find(purchase.id);
  if (record === null) throw rejected(purchase.quote, verdict.reason);
  return record;
}

function claim(lane: LaneTools, purchase: Purchase): ReturnType<PaymentStore['claim']> {
  const { id, binding, terms, quote } = purchase;
  const nowMs = lane.clock.nowMs();
  const workMs = lane.config.settleTimeoutSeconds * 1_000 + lane.limits.witnessWaitMs + LEASE_SLACK_MS;
  return lane.store.claim({
    id,
    binding,
    resource: quote.order.resource,
    payTo: terms.payTo,
    amount: String(terms.amount),
    expiresAtMs: expiryMs(purchase),
    claimedAtMs: nowMs,
    leaseUntilMs: nowMs + workMs,
  });
}

/** A payment that was seen before: perhaps settled and never answered. It is not settled again, whatever its state. */
async function resume(lane: LaneTools, purchase: Purchase, record: PaymentRecord): Promise<PaidCall> {
  if (record.binding !== purchase.binding) throw spent(purchase.quote);
  if (record.transaction !== null) return serve(lane, purchase, record.transaction);
  if (record.leaseUntilMs > lane.clock.nowMs()) throw inProgress();
  const transaction = await learnOutcome(lane, purchase, record);
  await recordSettlement(lane, purchase, transaction);
  return serve(lane, purchase, transaction);
}
