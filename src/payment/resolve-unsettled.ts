import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { PaymentRecord, PaymentStore } from '../accounts/store.ts';
import type { LaneTools } from './lane-tools.ts';
import { isDead } from './settle-once.ts';

export interface ResolveUnsettledParts {
  readonly store: PaymentStore;
  readonly witnessFor: LaneTools['witnessFor'];
  readonly clock: Clock;
  readonly log: Log;
}

/** What one pass did. `left`: the chain has not said anything final yet. */
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
 * Asks the chain about payments whose settlement began and whose outcome nobody recorded: a process died, or the facilitator
 * left it open. What settled waits for its payer as `settled`; what never will is forgotten. Rejects with `StoreUnavailable`.
 * `after` is where the pass before ended: payments of a chain that does not answer must not hide those behind them for ever.
 */
export async function resolveUnsettled(
  parts: ResolveUnsettledParts,
  limit: number = PASS_MAX,
  after: PaymentRecord | null = null,
): Promise<ResolvedPayments> {
  const { store, clock, log } = parts;
  const counts = { settled: 0, dropped: 0, left: 0 };
  const page = await store.unresolved({ nowMs: clock.nowMs(), after, limit });
  for (const record of page) counts[await resolveOne(parts, record)] += 1;
  if (counts.settled + counts.dropped > 0) log.info(counts, 'payments of unknown outcome were resolved');
  return { ...counts, next: page.length < limit ? null : (page.at(-1) ?? null) };
}

async function resolveOne(
  { store, witnessFor, clock }: ResolveUnsettledParts,
  record: PaymentRecord,
): Promise<'settled' | 'dropped' | 'left'> {
  const { id, payTo, amount, claimedAtMs, saidTransaction } = record;
  const claimed = saidTransaction === null ? {} : { claimed: saidTransaction };
  const question = { id, payTo, amount, sinceMs: claimedAtMs, ...claimed };
  const testimony = await witnessFor(id.chain).lookUp(question);
  if (testimony.outcome === 'settled') {
    await store.recordSettlement({ id, transaction: testimony.transaction });
    return 'settled';
  }
  if (!isDead(testimony, record, clock.nowMs())) return 'left';
  await store.dropClaim(id);
  return 'dropped';
}
