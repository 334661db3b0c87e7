import { encodePaymentResponseHeader } from '@x402/core/http';
import { networkName } from '../../core/domain/networks.ts';
import type { Sale } from '../../core/domain/sale.ts';
import type { AuthorizationId, ClaimedSale, PaymentStore } from '../accounts/payment-store.ts';
import type { LaneDeps, SettledCall } from './payment-lane.ts';
import { expiryMs, type Purchase } from './purchase.ts';
import { inProgress, settledButNotRecorded, settlementUnknown, spent, triedOften } from './refusals.ts';

/** The store's record of a payment: its claim, its settlement, and the one answer that it buys. */

/** Between the end of a settlement's time and the lapse of its lease: the last look at the chain and our own steps. */
const LEASE_SLACK_MS = 15_000;

/** How long a settlement may take with all that surrounds it. */
export function settlingMs({ config, limits }: LaneDeps): number {
  return config.settleTimeoutSeconds * 1_000 + limits.confirmWaitMs + LEASE_SLACK_MS;
}

/**
 * Claims the payment for the amount asked: of any number of requests one gets it, and that one alone asks the facilitator
 * to settle, right afterwards.
 */
export function claim(lane: LaneDeps, purchase: Purchase, sale?: Sale): ReturnType<PaymentStore['claim']> {
  const { id, binding, terms, asked, quote } = purchase;
  const nowMs = lane.clock.nowMs();
  return lane.store.payments.claim({
    id,
    binding,
    resource: quote.order.resource,
    payTo: terms.payTo,
    amount: String(asked),
    expiresAtMs: expiryMs(purchase, nowMs),
    claimedAtMs: nowMs,
    leaseUntilMs: nowMs + settlingMs(lane),
    ...(sale === undefined ? {} : { sale }),
  });
}

/**
 * Marks a claim that its request stops working on without knowing whether it settled. Where the mark cannot be written, the lease
 * of the claim lapses to the same effect.
 */
export async function leaveOpen(
  { store, clock, log }: LaneDeps,
  id: AuthorizationId,
  transaction: string | null,
): Promise<void> {
  try {
    await store.payments.leaveOpen({ id, atMs: clock.nowMs(), transaction });
  } catch {
    log.warn({ payment: id }, 'a payment of unknown outcome could not be marked; its lease lapses');
  }
}

/** The money has moved: the record of it is worth more than one attempt. */
const RECORD_ATTEMPTS = 3;

/** Records the settlement, so that its request can be served. Idempotent. */
export async function recordSettlement(
  lane: LaneDeps,
  { id, quote }: Purchase,
  transaction: string,
): Promise<void> {
  const outcome = await tryToRecord(lane, { id, transaction });
  if (outcome === 'settled')
    lane.log.info({ payment: id, transaction, resource: quote.order.resource }, 'a payment settled');
  if (outcome === 'settled' || outcome === 'replayed') return;
  // The claim is gone or holds another transaction: never expected, and nothing may be served on it.
  lane.log.error({ payment: id, transaction, outcome }, 'a settlement does not fit its record');
  throw settlementUnknown({ id, transaction });
}

async function tryToRecord(
  lane: LaneDeps,
  settlement: Parameters<PaymentStore['recordSettlement']>[0],
): Promise<Awaited<ReturnType<PaymentStore['recordSettlement']>>> {
  const { store, log } = lane;
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.payments.recordSettlement(settlement);
    } catch (cause) {
      if (attempt < RECORD_ATTEMPTS) continue;
      log.error(
        { payment: settlement.id, transaction: settlement.transaction },
        'a settlement is not recorded',
      );
      await leaveOpen(lane, settlement.id, settlement.transaction);
      throw settledButNotRecorded(settlement.id, settlement.transaction, cause);
    }
  }
}

/** Takes the right to answer for a settled payment, which buys what its claim says (`sale`). */
export async function serve(
  lane: LaneDeps,
  purchase: Purchase,
  { transaction, sale }: { readonly transaction: string; readonly sale: ClaimedSale | null },
): Promise<SettledCall> {
  const { store, clock, limits } = lane;
  const { id, quote, terms } = purchase;
  const nowMs = clock.nowMs();
  const { servingLeaseMs, servingAttemptsMax: attemptsMax } = limits;
  const { outcome, attempt } = await store.payments
    .beginServing({ id, nowMs, leaseUntilMs: nowMs + servingLeaseMs, attemptsMax })
    .catch((cause: unknown) => {
      throw settledButNotRecorded(id, transaction, cause);
    });
  switch (outcome) {
    case 'serving':
      return paidCall(purchase, { transaction, sale }, (answered, uncounted = false) =>
        store.payments.finishServing({ id, attempt, answered, uncounted }),
      );
    case 'busy':
      throw inProgress();
    case 'used': {
      // A payment can buy a key. The operation that issued it decides whether it may be shown again.
      const record = await store.payments.find(id);
      const wasServed = record?.state === 'served';
      if ((record?.keyId ?? null) === null) throw wasServed ? spent(quote, terms) : triedOften(quote, terms);
      return paidCall(purchase, { transaction, sale }, async () => undefined);
    }
    case 'unsettled':
    case 'unknown':
      throw settlementUnknown({ id, transaction });
  }
}

function paidCall(
  { quote, payment: { x402Version }, terms, asked, id, payer }: Purchase,
  { transaction, sale }: { readonly transaction: string; readonly sale: ClaimedSale | null },
  finish: SettledCall['finish'],
): SettledCall {
  const network = networkName(terms.chain, x402Version) as Network; // the codec's type knows v2 names only
  const taken = terms.scheme === 'upto' ? { amount: String(asked) } : {};
  const receiptHeader = encodePaymentResponseHeader({
    success: true,
    transaction,
    network,
    payer,
    ...taken,
  });
  const payment = { chain: terms.chain, asset: terms.asset, payer, nonce: id.nonce, transaction };
  // Prices are whole in both units, so that the share is too.
  const usdMicros = (quote.order.priceUsdMicros * asked) / terms.amount;
  return { kind: 'settled', payment, usdMicros, sale, receiptHeader, finish };
}

type Network = Parameters<typeof encodePaymentResponseHeader>[0]['network'];
