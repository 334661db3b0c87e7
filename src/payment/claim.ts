import type { AuthorizationId, PaymentStore } from '../accounts/store.ts';
import type { LaneTools } from './lane-tools.ts';
import { expiryMs, type Purchase } from './purchase.ts';

/** Between the end of a settlement's time and the lapse of its lease: the last look at the chain and our own steps. */
const LEASE_SLACK_MS = 15_000;

/** How long a settlement may take with all that surrounds it. */
export function settlingMs({ config, limits }: LaneTools): number {
  return config.settleTimeoutSeconds * 1_000 + limits.witnessWaitMs + LEASE_SLACK_MS;
}

/**
 * Takes the payment for good, for what is asked: of any number of callers one gets it, and it alone asks the facilitator to
 * settle, right after.
 */
export function claim(lane: LaneTools, purchase: Purchase): ReturnType<PaymentStore['claim']> {
  const { id, binding, terms, asked, quote } = purchase;
  const nowMs = lane.clock.nowMs();
  return lane.store.claim({
    id,
    binding,
    resource: quote.order.resource,
    payTo: terms.payTo,
    amount: String(asked),
    expiresAtMs: expiryMs(purchase),
    claimedAtMs: nowMs,
    leaseUntilMs: nowMs + settlingMs(lane),
  });
}

/**
 * Whoever claimed the payment stops working on it and does not know whether it settled. Where that cannot be written, the lease of
 * the claim says so when it lapses.
 */
export async function leaveOpen(
  { store, clock, log }: LaneTools,
  id: AuthorizationId,
  transaction: string | null,
): Promise<void> {
  try {
    await store.leaveOpen({ id, atMs: clock.nowMs(), transaction });
  } catch {
    log.warn({ payment: id }, 'a payment of unknown outcome could not be marked; its lease lapses');
  }
}
