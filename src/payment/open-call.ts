import { createHash } from 'node:crypto';
import { claim, settlingMs } from './claim.ts';
import type { LaneTools } from './lane-tools.ts';
import { OPEN_CALL_SECONDS } from './offer.ts';
import type { PaidCall, SettledCall } from './payment-lane.ts';
import type { Purchase } from './purchase.ts';
import { inProgress } from './refusals.ts';
import { resume } from './resume.ts';
import { recordSettlement, serve } from './serve-payment.ts';
import { settleOnce } from './settle-once.ts';

/**
 * A verified ceiling between its verification and its settlement. It is held for one call while that runs, by a lease that lapses
 * when the process dies: nothing was asked of the facilitator yet, so that it may simply be sent again. The hold only spares us
 * work done twice; that a ceiling is settled once and answers one request is the claim's doing, right before the settlement and
 * for the amount that is settled, as with every other payment.
 */
export async function openCall(lane: LaneTools, purchase: Purchase): Promise<PaidCall> {
  const hold = await takeHold(lane, purchase);
  // Whoever had the hold before may have settled since we looked.
  const known = await lane.store.find(purchase.id);
  if (known !== null) {
    await giveBack(lane, hold);
    return resume(lane, purchase, known);
  }
  return {
    kind: 'open',
    settle: (usdMicros) => settle(lane, purchase, { usdMicros, hold }),
    drop: () => giveBack(lane, hold),
  };
}

interface Hold {
  readonly scope: string;
  readonly key: string;
  readonly leaseUntilMs: number;
}

const HOLD_SCOPE = 'x402:open';

async function takeHold(lane: LaneTools, { id, binding }: Purchase): Promise<Hold> {
  const key = createHash('sha256')
    .update(JSON.stringify([id.chain, id.asset, id.payer, id.nonce]))
    .digest('hex');
  const nowMs = lane.clock.nowMs();
  const leaseUntilMs = nowMs + OPEN_CALL_SECONDS * 1_000 + settlingMs(lane);
  const hold = { scope: HOLD_SCOPE, key, leaseUntilMs };
  const { outcome } = await lane.running.begin({
    ...hold,
    requestDigest: binding,
    nowMs,
    keepUntilMs: leaseUntilMs,
  });
  if (outcome === 'begun') return hold;
  throw inProgress();
}

/** A hold that has lapsed may be another call's by now. One that cannot be given back lapses. */
async function giveBack(
  { running, clock, log }: LaneTools,
  { scope, key, leaseUntilMs }: Hold,
): Promise<void> {
  if (clock.nowMs() >= leaseUntilMs) return;
  try {
    await running.finish({ scope, key, reply: null });
  } catch {
    log.warn('the hold of an open payment could not be given back and is left to lapse');
  }
}

async function settle(
  lane: LaneTools,
  verified: Purchase,
  { usdMicros, hold }: { readonly usdMicros: bigint; readonly hold: Hold },
): Promise<SettledCall> {
  try {
    const purchase = { ...verified, asked: shareOf(verified, usdMicros) };
    const { outcome, record } = await claim(lane, purchase);
    // Somebody took the hold after it had lapsed, and was faster.
    if (outcome === 'taken') return await resume(lane, purchase, record);
    const transaction = await settleOnce(lane, purchase, record);
    await recordSettlement(lane, purchase, transaction);
    return await serve(lane, purchase, transaction);
  } finally {
    await giveBack(lane, hold);
  }
}

/** Atomic units of what was used. Whole, because a dollar's millionth is a whole number of atoms of every token we take. */
function shareOf({ terms, quote }: Purchase, usdMicros: bigint): bigint {
  const { priceUsdMicros } = quote.order;
  if (usdMicros <= 0n || usdMicros > priceUsdMicros)
    throw new RangeError('a settlement of nothing, or above the ceiling that was signed');
  return (terms.amount * usdMicros) / priceUsdMicros;
}
