import type { SettledPayment } from '../../core/domain/payment.ts';
import { ERRORS, Failure, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { askStore } from '../accounts/store-failure.ts';
import {
  type Answer,
  type AuthorShare,
  type Charge,
  type Outcome,
  withCharge,
} from '../operations/answer.ts';
import type { CallTerms } from '../operations/define.ts';
import type { OpenCall, PaymentLane, SentPayment, SettledCall } from '../payment/payment-lane.ts';
import type { GateAnswer } from './gate.ts';

/** The x402 lane: a payment is settled before the run, or, where it is a ceiling, after it and before the answer. */

interface PaymentTools {
  readonly lane: PaymentLane;
  readonly log: Log;
  /** Called with the receipt of a settlement before anything is answered, also when the answer is a failure. */
  onPaid(receiptHeader: string): void;
  /** Gives the author of what was sold a share of it, before anything is answered. May be repeated for one payment. */
  onEarned(share: AuthorShare, payment: SettledPayment): Promise<void>;
}

/** `payment`: the one settled before the run; null for a ceiling, which is settled afterwards. */
type RunPaid = (payment: SettledPayment | null) => Promise<Outcome>;

/**
 * Runs the call that the payment is for. A run that fails through our fault costs nothing, or can be repeated with the same payment;
 * one that fails through its own fault after it used something counts as served.
 */
export async function runOnPayment(
  tools: PaymentTools,
  sent: SentPayment,
  terms: CallTerms,
  run: RunPaid,
): Promise<GateAnswer> {
  const paid = await askStore(tools.lane.take(sent));
  return paid.kind === 'settled' ? runSettled(tools, paid, terms, run) : runOpen(tools, paid, terms, run);
}

async function runSettled(
  tools: PaymentTools,
  paid: SettledCall,
  terms: CallTerms,
  run: RunPaid,
): Promise<GateAnswer> {
  tools.onPaid(paid.receiptHeader);
  const charge = paidCharge(terms, paid.usdMicros);
  try {
    const outcome = await run(paid.payment);
    await tellEarned(tools, paid, outcome);
    return answered(tools, paid, outcome.answer(charge), charge);
  } catch (error) {
    // A fixed payment covers whatever the run uses: also what it used before it failed.
    const isServed = usedBy(terms, error) > 0;
    await finish(paid, isServed, tools.log, isOurFault(error));
    throw isServed ? withCharge(error, charge) : afterPayment(error, paid.payment);
  }
}

async function runOpen(
  tools: PaymentTools,
  open: OpenCall,
  terms: CallTerms,
  run: RunPaid,
): Promise<GateAnswer> {
  let outcome: Outcome;
  try {
    outcome = await run(null);
  } catch (error) {
    throw await settleFailure(tools, open, terms, error);
  }
  try {
    const paid = await askStore(open.settle(usdOf(terms, outcome.usedQu ?? unitsOf(terms))));
    tools.onPaid(paid.receiptHeader);
    const charge = paidCharge(terms, paid.usdMicros);
    await tellEarned(tools, paid, outcome);
    return answered(tools, paid, outcome.answer(charge), charge);
  } catch (error) {
    outcome.discard();
    throw error;
  }
}

/** The failure to answer with, after what the run used until then is settled; where it used nothing, nothing is. */
async function settleFailure(
  tools: PaymentTools,
  open: OpenCall,
  terms: CallTerms,
  error: unknown,
): Promise<unknown> {
  const used = usedBy(terms, error);
  if (used === 0) {
    await open.drop();
    return error;
  }
  const paid = await askStore(open.settle(usdOf(terms, used)));
  tools.onPaid(paid.receiptHeader);
  await finish(paid, true, tools.log);
  return withCharge(error, paidCharge(terms, paid.usdMicros));
}

async function tellEarned(
  { onEarned }: PaymentTools,
  { payment }: SettledCall,
  { share, discard }: Outcome,
): Promise<void> {
  if (share === undefined) return;
  try {
    await onEarned(share, payment);
  } catch (error) {
    discard();
    throw error;
  }
}

function answered(
  { log }: PaymentTools,
  paid: SettledCall,
  answer: Answer,
  { chargedQu }: Charge,
): GateAnswer {
  const delivered = (isAnswered: boolean) => finish(paid, isAnswered, log);
  return { answer, delivered, replayed: false, chargedQu, paidUsdMicros: paid.usdMicros };
}

/** A payment that cannot be marked stays in use until its lease lapses, and can be sent again then. */
async function finish(paid: SettledCall, isAnswered: boolean, log: Log, ourFault = false): Promise<void> {
  try {
    await paid.finish(isAnswered, ourFault);
  } catch (error) {
    log.warn({ err: error, answered: isAnswered }, 'a paid call could not be marked as finished');
  }
}

/** A fault that the caller cannot fix must not use up the attempts of its payment. */
function isOurFault(error: unknown): boolean {
  return !(error instanceof Failure) || ERRORS[error.code].status >= 500;
}

function unitsOf({ price }: CallTerms): number {
  return price.qu ?? 0;
}

function usedBy({ byUse, price }: CallTerms, error: unknown): number {
  if (!byUse || !(error instanceof Failure)) return 0;
  return Math.min(error.context.usedQu ?? 0, price.qu ?? 0);
}

/** What `units` cost, where all units of the call cost its price. Rounded up: a settlement is above zero. */
function usdOf(terms: CallTerms, units: number): bigint {
  const { x402UsdMicros } = terms.price;
  const all = BigInt(Math.max(1, unitsOf(terms)));
  const used = BigInt(Math.max(1, Math.min(units, Number(all))));
  return (x402UsdMicros * used + all - 1n) / all;
}

/** The units that were paid for. */
function paidCharge(terms: CallTerms, usdMicros: bigint): Charge {
  const heldQu = unitsOf(terms);
  const { x402UsdMicros } = terms.price;
  const chargedQu =
    usdMicros >= x402UsdMicros ? heldQu : Number((BigInt(heldQu) * usdMicros) / x402UsdMicros);
  return { heldQu, chargedQu, balance: null };
}

/** Adds to the failure of a run that may succeed later that the money is not lost. */
function afterPayment(error: unknown, { transaction }: SettledPayment): unknown {
  const known = error instanceof Failure ? error : undefined;
  if (known !== undefined && ERRORS[known.code].status < 500 && !ERRORS[known.code].retryable) return known;
  if (known?.context.payment !== undefined) return known;
  return fail(known?.code ?? 'internal_error', {
    cause: error,
    ...known?.context,
    detail: `${known?.message ?? 'The service failed to answer this request; the fault was logged.'} The payment settled: send the same request with the same payment again, it is not charged twice.`,
    payment: { stage: 'settle', transaction },
  });
}
