import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Hold } from '../../core/domain/hold.ts';
import type { Log } from '../../core/log.ts';
import { type ControlStore, StoreUnavailable } from '../accounts/store.ts';

/** The hold of a job: captured once when the job ends, or given back. Both may be repeated, by any process. */

interface ChargeTools {
  readonly units: Pick<ControlStore['units'], 'capture' | 'release'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface JobCharge {
  readonly chargedQu: number;
  readonly balance: number;
}

/** Captures what was used; 0 gives the hold back. What an earlier attempt captured stands. */
export async function chargeJob(
  tools: ChargeTools,
  hold: Hold,
  usedQu: number,
  note: string,
): Promise<JobCharge> {
  if (usedQu === 0) {
    const released = await releaseHold(tools, hold, note);
    if (released.outcome !== 'captured') return { chargedQu: 0, balance: released.balance.balance };
  }
  const { organizationId, holdId, ...held } = hold;
  const { outcome, charged, balance } = await tools.units.capture({
    organizationId,
    holdId,
    units: Math.min(usedQu, hold.units),
    atMs: tools.clock.nowMs(),
    held,
  });
  // Released as overdue, or lost by the store and the units spent since.
  if (outcome !== 'captured' && outcome !== 'replayed')
    tools.log.error({ hold: holdId, outcome }, 'a job was run free of charge');
  return { chargedQu: charged, balance: balance.balance };
}

export function releaseHold(
  { units, clock }: ChargeTools,
  { organizationId, holdId }: Hold,
  note: string,
): ReturnType<ChargeTools['units']['release']> {
  return units.release({ organizationId, holdId, kind: 'release', note, atMs: clock.nowMs() });
}

const STORE_PAUSE_MS = 500;

/** Repeats a call while the store does not answer, until the signal aborts. */
export async function whileUnavailable<Answer>(
  call: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal.aborted) throw error;
      await sleep(STORE_PAUSE_MS, undefined, { signal });
    }
  }
}
