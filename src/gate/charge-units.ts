import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { PaymentOffer } from '../../core/domain/payment.ts';
import type { UnitBalance } from '../../core/domain/plan.ts';
import { dayOf, dayStartMs } from '../../core/domain/usage.ts';
import { Failure, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { pauseUntil, retry } from '../../core/process/retry.ts';
import { StoreUnavailable } from '../accounts/store.ts';
import { asChargeUnknown, askStore } from '../accounts/store-failure.ts';
import type { Hold, UnitStore } from '../accounts/unit-store.ts';
import { type AuthorShare, type Charge, type Outcome, withCharge } from '../operations/answer.ts';
import type { CallTerms } from '../operations/define.ts';
import { sqlTierOf } from '../operations/prices.ts';
import { tierOf } from './access.ts';
import type { GateAnswer } from './gate.ts';
import { coveredShare } from './sale.ts';

/** The credit lane: units are set aside before a run and spent after it, or given back. */

/**
 * Far above the longest run without a time limit of its own (25 s), any wait for a turn, and the writes around them. Once it has
 * passed, the process that held is taken for dead, and the sweeper gives the units back.
 */
export const HOLD_OVERDUE_AFTER_MS = 120_000;

/** For how long a run may hold units: no time limit of its own is longer. */
export function overdueAfterMs(terms: CallTerms): number {
  return callMs(terms) + (terms.jobHoldMs ?? 0);
}

/** How long a call of these terms may take; afterwards its process is presumed dead. A job outlives its call. */
export function callMs(terms: CallTerms): number {
  const tier = tierOf(terms);
  return HOLD_OVERDUE_AFTER_MS + (tier === null ? 0 : sqlTierOf(tier).timeoutSeconds * 1_000);
}

/**
 * How long a capture is retried. A store that stalls may still carry it out when it resumes: only a retry shows whether it did, and
 * the caller then gets the answer that was charged. Two of Redis's own time limits (2 s) and a pause.
 */
export const CAPTURE_RETRY_MS = 5_000;
const CAPTURE_PAUSE_MS = 200;

interface UnitTools {
  readonly units: Pick<UnitStore, 'hold' | 'capture' | 'release'>;
  /** How long a capture is tried while the store does not answer. */
  readonly captureRetryMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface UnitCharge {
  readonly organizationId: string;
  /** The units held. All of them are charged, unless the price depends on use. */
  readonly units: number;
  readonly terms: CallTerms;
  readonly operation: string;
  /** Null for a bearer token. */
  readonly keyId: string | null;
  /** The x402 offer for an organization without units. */
  readonly offer: () => PaymentOffer | undefined;
  /** For a call that a process may have charged before it died without an answer. */
  readonly once: ChargeOnce | null;
}

/** Remembers on which hold a call is charged, across processes. */
export interface ChargeOnce {
  /** Names this hold as the one to be charged. Resolves with the hold that was named before, or null. */
  claim(holdId: string): Promise<string | null>;
}

/**
 * Runs with `call.units` held. A run that fails costs nothing, or what it reports as used. The units are captured before the answer
 * is given: an answer whose capture cannot be written is discarded, the sweeper resolves its hold, and the caller may ask again.
 */
export async function runOnUnits(
  tools: UnitTools,
  call: UnitCharge,
  run: (hold: Hold) => Promise<Outcome>,
): Promise<GateAnswer> {
  const { organizationId, units, operation, terms, keyId } = call;
  const heldAtMs = tools.clock.nowMs();
  const overdueAtMs = heldAtMs + overdueAfterMs(terms);
  // Our own id: one that callers choose (their X-Request-Id) would let them run twice on one hold.
  const hold = { organizationId, holdId: randomUUID(), units, operation, heldAtMs, overdueAtMs, keyId };
  const held = await takeHold(tools, call, hold);
  let outcome: Outcome;
  try {
    outcome = await run(hold);
  } catch (error) {
    throw await chargeFailure(tools, call, hold, error);
  }
  if (outcome.keepsHold === true) {
    const answer = outcome.answer(chargeOf(call, 0, held));
    return { answer, delivered: null, replayed: false, chargedQu: 0 };
  }
  try {
    const used = unitsUsed(tools, call, outcome.usedQu);
    const charge = await capture(tools, call, hold, used, coveredShare(outcome.share, used, tools.log));
    const { chargedQu } = charge;
    return { answer: outcome.answer(charge), delivered: null, replayed: false, chargedQu };
  } catch (error) {
    outcome.discard();
    throw error;
  }
}

async function takeHold(
  tools: UnitTools,
  { offer, terms: { byUse } }: UnitCharge,
  hold: Hold,
): Promise<UnitBalance> {
  const { units } = hold;
  const { outcome, balance, budget } = await askStore(tools.units.hold(hold));
  if (outcome === 'held') return balance;
  if (outcome === 'over_budget') throw overBudget(hold, byUse, budget);
  if (outcome === 'insufficient') {
    const shown = offer();
    const less = byUse && balance.balance > 0 ? ' Hold less with a smaller max_qu.' : '';
    const price = byUse ? `holds ${units} QU while it runs` : `costs ${units} QU`;
    throw fail('insufficient_qu', {
      detail: `The call ${price}; the organization has ${balance.balance} QU free${balance.held > 0 ? ` and ${balance.held} QU held for calls that are running` : ''}.${less}`,
      ...(shown === undefined ? {} : { offer: shown }),
    });
  }
  throw new Error(`a new hold of an organization just read is ${outcome}`);
}

function overBudget(
  { units, heldAtMs }: Hold,
  byUse: boolean,
  budget: { readonly unitsPerDay: number; readonly used: number } | undefined,
): Failure {
  const { unitsPerDay, used } = budget ?? { unitsPerDay: 0, used: 0 };
  const left = Math.max(0, unitsPerDay - used);
  const less = byUse && left > 0 ? ` Hold at most ${left} with max_qu.` : '';
  return fail('key_budget_exhausted', {
    detail: `The call ${byUse ? 'holds' : 'costs'} ${units} QU; the key may use ${unitsPerDay} QU a day and has ${left} left until the UTC day ends.${less} Nothing was charged.`,
    retryAfterSeconds: Math.ceil((dayStartMs(dayOf(heldAtMs) + 1) - heldAtMs) / 1_000),
  });
}

/** The units to capture. A run that reports more than were held is a bug, which the caller must not pay for. */
function unitsUsed(
  { log }: UnitTools,
  { terms: { byUse }, units, operation }: UnitCharge,
  used: number | null,
): number {
  if (!byUse) return units;
  if (used !== null && Number.isInteger(used) && used >= 0 && used <= units) return used;
  log.error({ operation, used, units }, 'a run does not say how many of its units it used');
  return Math.max(0, Math.min(units, Math.floor(used ?? 0)));
}

/** The failure to answer with, which carries its charge where the run used something. */
async function chargeFailure(
  tools: UnitTools,
  call: UnitCharge,
  hold: Hold,
  error: unknown,
): Promise<unknown> {
  const said = call.terms.byUse && error instanceof Failure ? error.context.usedQu : undefined;
  const used = said === undefined ? 0 : unitsUsed(tools, call, said);
  if (used === 0) {
    const note = `the run failed: ${error instanceof Failure ? error.code : 'internal_error'}`;
    const balance = await giveBack(tools, hold, note);
    return said === undefined || balance === null ? error : withCharge(error, chargeOf(call, 0, balance));
  }
  try {
    return withCharge(error, await capture(tools, call, hold, used));
  } catch {
    // The caller gets the run's own failure; nothing is charged for it.
    return error;
  }
}

function chargeOf({ units }: UnitCharge, chargedQu: number, { balance }: UnitBalance): Charge {
  return { heldQu: units, chargedQu, balance };
}

/** The balance after it; null where it could not be written, and the sweeper will do it. */
async function giveBack(
  { units, clock, log }: UnitTools,
  hold: Hold,
  note: string,
): Promise<UnitBalance | null> {
  try {
    const { organizationId, holdId } = hold;
    const atMs = clock.nowMs();
    const { balance } = await units.release({ organizationId, holdId, kind: 'release', note, atMs });
    return balance;
  } catch (error) {
    log.warn({ err: error, hold: hold.holdId }, 'a hold could not be released; the sweeper will release it');
    return null;
  }
}

async function capture(
  tools: UnitTools,
  call: UnitCharge,
  hold: Hold,
  used: number,
  share?: AuthorShare,
): Promise<Charge> {
  const { units, clock, log } = tools;
  try {
    const before = await chargedBefore(tools, call, hold);
    if (before !== null) return before;
    const atMs = clock.nowMs();
    // Capturing twice changes nothing.
    const retryUntilMs = performance.now() + tools.captureRetryMs;
    const { organizationId, holdId, ...held } = hold;
    const earned = share === undefined ? {} : { share };
    const wanted = { organizationId, holdId, units: used, atMs, held, ...earned };
    const { outcome, charged, balance } = await retry(() => units.capture(wanted), {
      pauseMs: (error) =>
        error instanceof StoreUnavailable ? pauseUntil(retryUntilMs, CAPTURE_PAUSE_MS) : null,
    });
    // Released as overdue, or lost by the store and the units spent since: nothing can be charged, through no fault of the caller.
    if (outcome !== 'captured' && outcome !== 'replayed')
      log.error({ hold: hold.holdId, outcome }, 'a call was answered free of charge');
    return chargeOf(call, charged, balance);
  } catch (error) {
    log.warn({ err: error, hold: hold.holdId }, 'units could not be captured; the sweeper gives them back');
    throw asChargeUnknown(error);
  }
}

/**
 * The charge of an earlier attempt at the same call, whose process ended before it could answer; null when there was none. If there
 * is one, this attempt costs nothing; a hold that the earlier attempt still had is released.
 */
async function chargedBefore(tools: UnitTools, call: UnitCharge, hold: Hold): Promise<Charge | null> {
  const { units, clock } = tools;
  const { organizationId, holdId } = hold;
  const earlierId = await call.once?.claim(holdId);
  if (earlierId === undefined || earlierId === null || earlierId === holdId) return null;
  const earlier = { organizationId, holdId: earlierId };
  const atMs = clock.nowMs();
  const note = 'its process ended; the call was begun again';
  const { outcome } = await units.release({ ...earlier, kind: 'release', note, atMs });
  if (outcome !== 'captured') return null;
  const { charged } = await units.capture({ ...earlier, units: 0, atMs });
  const given = await units.release({
    organizationId,
    holdId,
    kind: 'release',
    note: `charged already, on the hold ${earlierId}`,
    atMs,
  });
  return chargeOf(call, charged, given.balance);
}
