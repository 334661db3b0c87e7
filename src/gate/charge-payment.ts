import type { SettledPayment } from '../../core/domain/payment.ts';
import { ERRORS, Failure, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ClaimedSale } from '../accounts/payment-store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { type Answer, type Charge, type Outcome, withCharge } from '../operations/answer.ts';
import type { CallTerms, PreparedCall } from '../operations/define.ts';
import type { OpenCall, PaymentLane, SentPayment, SettledCall } from '../payment/payment-lane.ts';
import type { GateAnswer } from './gate.ts';
import { saleOf, unitsOf } from './sale.ts';

/** The x402 lane: a payment is settled before the run, or, where it is a ceiling, after it and before the answer. */

interface PaymentTools {
  readonly lane: PaymentLane;
  readonly log: Log;
  /** Called with the receipt of a settlement before anything is answered, also when the answer is a failure. */
  onPaid(receiptHeader: string): void;
  /** Gives the author the share that the payment was claimed with, before anything is answered. May be repeated for one payment. */
  onEarned(payment: SettledPayment): Promise<void>;
}

/** `paid`: the payment that settled before the run, and what it buys; null for a ceiling, which is settled afterwards. */
type RunPaid = (
  paid: { readonly payment: SettledPayment; readonly sale: ClaimedSale | null } | null,
) => Promise<Outcome>;

/**
 * Runs the call that the payment is for. A run that fails through our fault costs nothing, or can be repeated with the same payment;
 * one that fails through its own fault after it used something counts as served.
 */
export async function runOnPayment(
  tools: PaymentTools,
  sent: Omit<SentPayment, 'sale'>,
  call: PreparedCall,
  run: RunPaid,
): Promise<GateAnswer> {
  const { terms } = call;
  const sale = saleOf(call, unitsOf(terms), terms.share, tools.log);
  const paid = await askStore(tools.lane.take({ ...sent, sale }));
  return paid.kind === 'settled' ? runSettled(tools, paid, terms, run) : runOpen(tools, paid, call, run);
}

async function runSettled(
  tools: PaymentTools,
  paid: SettledCall,
  terms: CallTerms,
  run: RunPaid,
): Promise<GateAnswer> {
  tools.onPaid(paid.receiptHeader);
  const charge = paidCharge(terms, paid);
  try {
    const outcome = await run(paid);
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
  call: PreparedCall,
  run: RunPaid,
): Promise<GateAnswer> {
  const { terms } = call;
  let outcome: Outcome;
  try {
    outcome = await run(null);
  } catch (error) {
    throw await settleFailure(tools, open, call, error);
  }
  try {
    const used = paidUnits(terms, outcome.usedQu ?? unitsOf(terms));
    const sale = saleOf(call, used, outcome.share, tools.log);
    const paid = await askStore(open.settle(usdOf(terms, used), sale));
    tools.onPaid(paid.receiptHeader);
    const charge = paidCharge(terms, paid);
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
  call: PreparedCall,
  error: unknown,
): Promise<unknown> {
  const { terms } = call;
  const used = usedBy(terms, error);
  if (used === 0) {
    await open.drop();
    return error;
  }
  const sale = saleOf(call, used, undefined, tools.log);
  const paid = await askStore(open.settle(usdOf(terms, used), sale));
  tools.onPaid(paid.receiptHeader);
  await finish(paid, true, tools.log);
  return withCharge(error, paidCharge(terms, paid));
}

async function tellEarned(
  { onEarned }: PaymentTools,
  { payment, sale }: SettledCall,
  { discard }: Outcome,
): Promise<void> {
  if ((sale?.share ?? null) === null) return;
  try {
    await onEarned(payment);
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

function usedBy({ byUse, price }: CallTerms, error: unknown): number {
  if (!byUse || !(error instanceof Failure)) return 0;
  return Math.min(error.context.usedQu ?? 0, price.qu ?? 0);
}

/** The units that are settled: at least one, because a settlement is above zero, and no more than were offered. */
function paidUnits(terms: CallTerms, used: number): number {
  return Math.max(1, Math.min(used, unitsOf(terms)));
}

/** What `units` cost, where all units of the call cost its price. Rounded up. */
function usdOf(terms: CallTerms, units: number): bigint {
  const all = BigInt(Math.max(1, unitsOf(terms)));
  return (terms.price.x402UsdMicros * BigInt(paidUnits(terms, units)) + all - 1n) / all;
}

/** The units that were paid for: the units of the claim, which an earlier version of this program did not write. */
function paidCharge(terms: CallTerms, { usdMicros, sale }: SettledCall): Charge {
  const heldQu = unitsOf(terms);
  if (sale !== null) return { heldQu, chargedQu: sale.units, balance: null };
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
