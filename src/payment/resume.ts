import type { PaymentRecord } from '../accounts/store.ts';
import type { LaneTools } from './lane-tools.ts';
import type { SettledCall } from './payment-lane.ts';
import type { Purchase } from './purchase.ts';
import { inProgress, spent } from './refusals.ts';
import { recordSettlement, serve } from './serve-payment.ts';
import { learnOutcome } from './settle-once.ts';

/**
 * A payment that was claimed before: perhaps settled and never answered. It is not settled again, whatever its state, and what
 * it was claimed for counts, not what is asked now.
 */
export async function resume(lane: LaneTools, sent: Purchase, record: PaymentRecord): Promise<SettledCall> {
  if (record.binding !== sent.binding) throw spent(sent.quote, sent.terms);
  const purchase = { ...sent, asked: BigInt(record.amount) };
  if (record.transaction !== null) return serve(lane, purchase, record.transaction);
  // A claim that its process gave up is looked up on the chain at once; one that it works on is in use until its lease lapses.
  if (record.leftOpenAtMs === null && record.leaseUntilMs > lane.clock.nowMs()) throw inProgress();
  const transaction = await learnOutcome(lane, purchase, record);
  await recordSettlement(lane, purchase, transaction);
  return serve(lane, purchase, transaction);
}
