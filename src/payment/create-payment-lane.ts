import type { PaymentRecord } from '../accounts/store.ts';
import { claim } from './claim.ts';
import { DEFAULT_LANE_LIMITS, type LaneLimits, type LaneTools } from './lane-tools.ts';
import { findFault } from './match-payment.ts';
import { offerOf, type Quote, quoteOf } from './offer.ts';
import { openCall } from './open-call.ts';
import type { Order, PaidCall, PaymentLane, TermsOf } from './payment-lane.ts';
import { type Purchase, readPurchase, toVerify } from './purchase.ts';
import { facilitatorUnavailable, foreignFacilitator, rejected, unacceptable } from './refusals.ts';
import { resume } from './resume.ts';
import { recordSettlement, serve } from './serve-payment.ts';
import { settleOnce } from './settle-once.ts';

export type PaymentLaneParts = Omit<LaneTools, 'limits'> & {
  /** Tests wait less. */
  readonly limits?: Partial<LaneLimits>;
};

/**
 * The x402 lane: read, find, check, verify, preflight, claim, settle once, see it on chain, record, serve. A payment is claimed before it
 * is settled and recorded before it is served, so that whoever dies when, it is settled once and answers one request. Of a
 * ceiling the steps from the claim on wait until the call knows what it used.
 * Rejects with `StoreUnavailable` where the store does not answer before money moved.
 */
export function createPaymentLane({
  limits,
  ...parts
}: PaymentLaneParts): PaymentLane & { readonly termsOf: TermsOf } {
  const lane: LaneTools = { ...parts, limits: { ...DEFAULT_LANE_LIMITS, ...limits } };
  return {
    offer: (order) => offerOf(quoteFor(lane, order), 'payment_required'),
    termsOf: (order) => quoteFor(lane, order).terms.map(({ v2 }) => ({ ...v2 })),
    take: (order, { payment }, preflight) => take(lane, order, payment, preflight),
  };
}

function quoteFor({ config, uptoSigners }: LaneTools, order: Order): Quote {
  return quoteOf(order, config, (chain) => uptoSigners.offered(chain));
}

async function take(
  lane: LaneTools,
  order: Order,
  header: string,
  preflight?: () => Promise<void>,
): Promise<PaidCall> {
  const purchase = readPurchase(quoteFor(lane, order), header);
  const known = await lane.store.find(purchase.id);
  if (known !== null) return resume(lane, purchase, known);
  const fault = findFault(purchase.payment, purchase.terms, { order, nowMs: lane.clock.nowMs() });
  if (fault !== null) throw unacceptable(purchase.quote, fault);
  await checkFacilitator(lane, purchase);
  const meanwhile = await verify(lane, purchase);
  if (meanwhile !== null) return resume(lane, purchase, meanwhile);
  if (purchase.terms.scheme === 'upto') return openCall(lane, purchase);
  // Nobody gives back what is settled: what would fail at once is told now, and only to whoever can pay.
  await preflight?.();
  const { outcome, record } = await claim(lane, purchase);
  if (outcome === 'taken') return resume(lane, purchase, record);
  const transaction = await settleOnce(lane, purchase, record);
  await recordSettlement(lane, purchase, transaction);
  return serve(lane, purchase, transaction);
}

/** A ceiling names who alone may settle it; that must be our facilitator. */
async function checkFacilitator(
  { uptoSigners }: LaneTools,
  { payment, terms, quote }: Purchase,
): Promise<void> {
  if (payment.scheme === 'exact') return;
  const isOurs = await uptoSigners.isOurs(terms.chain, payment.permit.facilitator);
  if (isOurs === 'unknown') throw facilitatorUnavailable(new Error('its addresses are not known'));
  if (!isOurs) throw foreignFacilitator(quote);
}

/** Null when the facilitator finds nothing wrong; the record when a duplicate of this request was faster. */
async function verify(lane: LaneTools, purchase: Purchase): Promise<PaymentRecord | null> {
  const verdict = await lane.facilitator.verify(toVerify(purchase));
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
