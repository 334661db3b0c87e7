import { encodePaymentResponseHeader } from '@x402/core/http';
import { leaveOpen } from './claim.ts';
import type { LaneTools } from './lane-tools.ts';
import { networkName } from './networks.ts';
import type { SettledCall } from './payment-lane.ts';
import type { Purchase } from './purchase.ts';
import { inProgress, settledButNotRecorded, settlementUnknown, spent, triedOften } from './refusals.ts';

/** From money on chain to the one answer that it buys. */

/** The money has moved: the record of it is worth more than one attempt. */
const RECORD_ATTEMPTS = 3;

/** Makes the settlement ours to serve. Repeating it is fine. */
export async function recordSettlement(
  lane: LaneTools,
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
  lane: LaneTools,
  settlement: Parameters<LaneTools['store']['recordSettlement']>[0],
): Promise<Awaited<ReturnType<LaneTools['store']['recordSettlement']>>> {
  const { store, log } = lane;
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.recordSettlement(settlement);
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

/** Takes the right to answer for a settled payment. */
export async function serve(lane: LaneTools, purchase: Purchase, transaction: string): Promise<SettledCall> {
  const { store, clock, limits } = lane;
  const { id, quote, terms } = purchase;
  const nowMs = clock.nowMs();
  const { servingLeaseMs, servingAttemptsMax: attemptsMax } = limits;
  const { outcome, attempt } = await store
    .beginServing({ id, nowMs, leaseUntilMs: nowMs + servingLeaseMs, attemptsMax })
    .catch((cause: unknown) => {
      throw settledButNotRecorded(id, transaction, cause);
    });
  switch (outcome) {
    case 'serving':
      return paidCall(purchase, transaction, (answered, uncounted = false) =>
        store.finishServing({ id, attempt, answered, uncounted }),
      );
    case 'busy':
      throw inProgress();
    case 'used': {
      // What a payment bought can be a key. Whether that one may be shown again is for the operation that issued it to say.
      const record = await store.find(id);
      const wasServed = record?.state === 'served';
      if ((record?.keyId ?? null) === null) throw wasServed ? spent(quote, terms) : triedOften(quote, terms);
      return paidCall(purchase, transaction, async () => undefined);
    }
    case 'unsettled':
    case 'unknown':
      throw settlementUnknown({ id, transaction });
  }
}

function paidCall(
  { quote, payment: { x402Version }, terms, asked, id, payer }: Purchase,
  transaction: string,
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
  return { kind: 'settled', payment, usdMicros, receiptHeader, finish };
}

type Network = Parameters<typeof encodePaymentResponseHeader>[0]['network'];
