import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { UnitStore } from '../control/control-store.ts';
import type { PaymentOffer } from '../domain/payment.ts';
import { Failure, fail } from '../errors.ts';
import type { Log } from '../log.ts';
import { asAccountsUnavailable, askStore } from './store-failure.ts';

/** The credit lane: units are set aside before a run and spent after it, or given back. Source: api.md 4. */

/**
 * Above the longest run (25 s) and the writes around it by far. Once it has passed, whoever held is taken for dead, and the
 * sweeper gives the units back.
 */
export const HOLD_OVERDUE_AFTER_MS = 120_000;

export interface UnitTools {
  readonly units: Pick<UnitStore, 'hold' | 'capture' | 'release'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface UnitCharge {
  readonly organizationId: string;
  readonly units: number;
  readonly operation: string;
  /** How the call can be paid otherwise, for an organization without units. */
  readonly offer: () => PaymentOffer | undefined;
}

/**
 * Runs with `charge.units` held. A run that fails costs nothing. The units are spent before the answer is given: an answer
 * whose capture cannot be written is withheld, its hold falls to the sweeper, and the caller may ask again.
 */
export async function runOnUnits<Answer>(
  tools: UnitTools,
  charge: UnitCharge,
  run: () => Promise<Answer>,
): Promise<Answer> {
  // Our own id: one that callers choose (their X-Request-Id) would let them run twice on one hold.
  const hold = { organizationId: charge.organizationId, holdId: randomUUID() };
  await takeHold(tools, charge, hold);
  let answer: Answer;
  try {
    answer = await run();
  } catch (error) {
    await giveBack(tools, hold, error);
    throw error;
  }
  await capture(tools, charge, hold);
  return answer;
}

interface HoldName {
  readonly organizationId: string;
  readonly holdId: string;
}

async function takeHold(tools: UnitTools, charge: UnitCharge, hold: HoldName): Promise<void> {
  const { units, operation, offer } = charge;
  const heldAtMs = tools.clock.nowMs();
  const { outcome, balance } = await askStore(
    tools.units.hold({
      ...hold,
      units,
      operation,
      heldAtMs,
      overdueAtMs: heldAtMs + HOLD_OVERDUE_AFTER_MS,
    }),
  );
  if (outcome === 'held') return;
  if (outcome === 'insufficient') {
    const terms = offer();
    throw fail('insufficient_qu', {
      detail: `The call costs ${units} QU; the organization has ${balance.balance} QU free${balance.held > 0 ? ` and ${balance.held} QU held for calls that are running` : ''}.`,
      ...(terms === undefined ? {} : { offer: terms }),
    });
  }
  throw new Error(`a new hold of an organization just read is ${outcome}`);
}

async function giveBack({ units, clock, log }: UnitTools, hold: HoldName, reason: unknown): Promise<void> {
  const note = `the run failed: ${reason instanceof Failure ? reason.code : 'internal_error'}`;
  try {
    await units.release({ ...hold, kind: 'release', note, atMs: clock.nowMs() });
  } catch (error) {
    // The caller hears of the run's failure, which came first.
    log.warn({ err: error, hold: hold.holdId }, 'a hold could not be given back; the sweeper will');
  }
}

async function capture({ units, clock, log }: UnitTools, charge: UnitCharge, hold: HoldName): Promise<void> {
  try {
    const { outcome } = await units.capture({ ...hold, units: charge.units, atMs: clock.nowMs() });
    // Given back as overdue, or gone with a store that lost its data: nothing can be charged, and that is not the caller's fault.
    if (outcome !== 'captured')
      log.error({ hold: hold.holdId, outcome }, 'a call was answered free of charge');
  } catch (error) {
    log.warn({ err: error, hold: hold.holdId }, 'units could not be captured; the sweeper gives them back');
    throw asAccountsUnavailable(error);
  }
}
