import { createHash } from 'node:crypto';
import type { Address } from '../../core/domain/account.ts';
import type { Sale } from '../../core/domain/sale.ts';
import type { ClaimedSale, PaymentRecord } from '../accounts/payment-store.ts';
import { findFault } from './fault.ts';
import { OPEN_CALL_SECONDS, offerOf, type Quote, quoteOf } from './offer.ts';
import {
  DEFAULT_LANE_LIMITS,
  type LaneDeps,
  type LaneLimits,
  type Order,
  type PaidCall,
  type PaymentLane,
  type SentPayment,
  type SettledCall,
  type TermsOf,
} from './payment-lane.ts';
import { findPurchase, type Purchase, readPurchase, toSettle, toVerify } from './purchase.ts';
import { claim, recordSettlement, serve, settlingMs } from './record.ts';
import {
  facilitatorUnavailable,
  foreignFacilitator,
  inProgress,
  isOurFault,
  rejected,
  spent,
  unacceptable,
} from './refusals.ts';
import { confirmSettlement, learnOutcome } from './settle.ts';

export type PaymentLaneDeps = Omit<LaneDeps, 'limits'> & {
  /** Shorter in tests. */
  readonly limits?: Partial<LaneLimits>;
};

/**
 * The x402 lane: offer, read, verify, claim, settle, confirm, record, serve. A payment is claimed before it is settled and
 * recorded before it is served: a process can die between any two steps, and the payment is settled once and answers one request.
 * Of a ceiling (`upto`) the steps from the claim on wait until the call knows what it used.
 * Rejects with `StoreUnavailable` where the store does not answer before money moved.
 */
export function createPaymentLane({
  limits,
  ...deps
}: PaymentLaneDeps): PaymentLane & { readonly termsOf: TermsOf } {
  const lane: LaneDeps = { ...deps, limits: { ...DEFAULT_LANE_LIMITS, ...limits } };
  return {
    offer: (order) => offerOf(quoteFor(lane, order), 'payment_required'),
    termsOf: (order) => quoteFor(lane, order).terms.map(({ v2 }) => ({ ...v2 })),
    recall: (sent) => recall(lane, sent),
    take: (sent) => take(lane, sent),
  };
}

function quoteFor({ config, signers, isFaultyToken = () => false }: LaneDeps, order: Order): Quote {
  const accept = config.accept.filter(({ chain, token }) => !isFaultyToken(chain, token.address));
  return quoteOf(order, { ...config, accept }, (chain) => signers.offered(chain));
}

async function recall(
  lane: LaneDeps,
  { order, header }: Pick<SentPayment, 'order' | 'header'>,
): Promise<ClaimedSale | null> {
  const purchase = findPurchase(quoteFor(lane, order), header);
  if (!('id' in purchase)) return null;
  const record = await lane.store.payments.find(purchase.id);
  if (record === null || record.binding !== purchase.binding || record.state === 'served') return null;
  return record.sale;
}

/** From the header to the paid call. A failure before `settleAndServe` leaves the payment unspent. */
async function take(lane: LaneDeps, { order, header, sale, preflight }: SentPayment): Promise<PaidCall> {
  // Offer and read: the terms are rebuilt from the route, never taken from the payment.
  const purchase = readPurchase(quoteFor(lane, order), header);
  const known = await lane.store.payments.find(purchase.id);
  if (known !== null) return resume(lane, purchase, known);
  // Verify: first our own checks, then the facilitator's, which reads the chain.
  const fault = findFault(purchase.payment, purchase.terms, { order, nowMs: lane.clock.nowMs() });
  if (fault !== null) throw unacceptable(purchase.quote, fault);
  await checkFacilitator(lane, purchase);
  const duplicate = await verify(lane, purchase);
  if (duplicate !== null) return resume(lane, purchase, duplicate);
  if (purchase.terms.scheme === 'upto') return openCall(lane, purchase);
  // A settled payment is not given back, so a run that is sure to fail is refused before it.
  await preflight?.();
  return settleAndServe(lane, purchase, sale);
}

/** From a verified payment to the one request that it buys. */
async function settleAndServe(lane: LaneDeps, purchase: Purchase, sale?: Sale): Promise<SettledCall> {
  const { outcome, record } = await claim(lane, purchase, sale);
  if (outcome === 'taken') return resume(lane, purchase, record);
  const settling = await lane.facilitator.settle(toSettle(purchase));
  const transaction = await confirmSettlement(lane, { purchase, record, settling });
  await recordSettlement(lane, purchase, transaction);
  return serve(lane, purchase, { transaction, sale: record.sale });
}

/**
 * A payment that was claimed before: it may have settled without an answer. It is never settled again, whatever its state,
 * and it counts for the amount, the payee and the sale that it was claimed for.
 */
async function resume(lane: LaneDeps, sent: Purchase, record: PaymentRecord): Promise<SettledCall> {
  if (record.binding !== sent.binding) throw spent(sent.quote, sent.terms);
  const { sale, amount, payTo } = record;
  const terms = { ...sent.terms, payTo: payTo as Address }; // of the terms that it was claimed for
  const purchase = { ...sent, asked: BigInt(amount), terms };
  if (record.transaction !== null) return serve(lane, purchase, { transaction: record.transaction, sale });
  // A claim that its process gave up is looked up on the chain at once; one that a process works on is in use until its lease lapses.
  if (record.leftOpenAtMs === null && record.leaseUntilMs > lane.clock.nowMs()) throw inProgress();
  const transaction = await learnOutcome(lane, purchase, record);
  await recordSettlement(lane, purchase, transaction);
  return serve(lane, purchase, { transaction, sale });
}

/** A ceiling names the one address that may settle it, a transaction the one that pays its fee; it must be our facilitator's. */
async function checkFacilitator({ signers }: LaneDeps, { terms, quote }: Purchase): Promise<void> {
  if (terms.signer === null) return;
  const isOurs = await signers.isOurs(terms.chain, terms.signer);
  if (isOurs === 'unknown') throw facilitatorUnavailable(new Error('its addresses are not known'));
  if (!isOurs) throw foreignFacilitator(quote, terms);
}

/** Null when the facilitator accepts the payment; the record when a duplicate of this request was faster. */
async function verify(lane: LaneDeps, purchase: Purchase): Promise<PaymentRecord | null> {
  const verdict = await lane.facilitator.verify(toVerify(purchase));
  if (verdict.outcome === 'valid') return null;
  if (verdict.outcome === 'unreachable') {
    lane.log.warn({ err: verdict.cause }, 'the facilitator cannot be asked to verify');
    throw facilitatorUnavailable(verdict.cause);
  }
  // A duplicate that settled between our look-up and the facilitator's is "nonce already used" to the facilitator.
  const record = await lane.store.payments.find(purchase.id);
  if (record === null) {
    const { chain, asset } = purchase.terms;
    if (isOurFault(verdict.reason))
      lane.log.error(
        { chain, asset, reason: verdict.reason },
        'the configuration of a token contradicts its contract',
      );
    throw rejected(purchase.quote, verdict.reason);
  }
  return record;
}

/**
 * A verified ceiling between its verification and its settlement. A lease holds it for one call while that runs and lapses when
 * the process dies: the facilitator was not asked to settle yet, so the payer may send the same payment again. The hold only
 * spares running the same call twice. What makes a ceiling settle once and answer one request is the claim, as with every other
 * payment: it is made right before the settlement, for the amount that is settled.
 */
async function openCall(lane: LaneDeps, purchase: Purchase): Promise<PaidCall> {
  const hold = await takeHold(lane, purchase);
  // The previous holder may have settled since we looked.
  const known = await lane.store.payments.find(purchase.id);
  if (known !== null) {
    await releaseHold(lane, hold);
    return resume(lane, purchase, known);
  }
  return {
    kind: 'open',
    settle: async (usdMicros, sale) => {
      try {
        return await settleAndServe(lane, { ...purchase, asked: shareOf(purchase, usdMicros) }, sale);
      } finally {
        await releaseHold(lane, hold);
      }
    },
    drop: () => releaseHold(lane, hold),
  };
}

interface Hold {
  readonly scope: string;
  readonly key: string;
  readonly leaseUntilMs: number;
}

const HOLD_SCOPE = 'x402:open';

async function takeHold(lane: LaneDeps, { id, binding }: Purchase): Promise<Hold> {
  const key = createHash('sha256')
    .update(JSON.stringify([id.chain, id.asset, id.payer, id.nonce]))
    .digest('hex');
  const nowMs = lane.clock.nowMs();
  const leaseUntilMs = nowMs + OPEN_CALL_SECONDS * 1_000 + settlingMs(lane);
  const hold = { scope: HOLD_SCOPE, key, leaseUntilMs };
  const { outcome } = await lane.store.replies.begin({
    ...hold,
    requestDigest: binding,
    nowMs,
    keepUntilMs: leaseUntilMs,
  });
  if (outcome === 'begun') return hold;
  throw inProgress();
}

/** A hold that has lapsed may belong to another call by now. One that cannot be released lapses. */
async function releaseHold(
  { store, clock, log }: LaneDeps,
  { scope, key, leaseUntilMs }: Hold,
): Promise<void> {
  if (clock.nowMs() >= leaseUntilMs) return;
  try {
    await store.replies.finish({ scope, key, reply: null });
  } catch {
    log.warn('the hold of an open payment could not be released; it lapses');
  }
}

/** The units used, in atomic units. Exact, because a millionth of a dollar is a whole number of atomic units of every token we take. */
function shareOf({ terms, quote }: Purchase, usdMicros: bigint): bigint {
  const { priceUsdMicros } = quote.order;
  if (usdMicros <= 0n || usdMicros > priceUsdMicros)
    throw new RangeError('a settlement of nothing, or above the ceiling that was signed');
  return (terms.amount * usdMicros) / priceUsdMicros;
}
