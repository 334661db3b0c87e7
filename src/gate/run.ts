import type { Hold } from '../../core/domain/hold.ts';
import type { PaymentOffer, SettledPayment } from '../../core/domain/payment.ts';
import { fail } from '../../core/errors.ts';
import type { ClaimedSale } from '../accounts/payment-store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { NOT_CHARGED, type Outcome } from '../operations/answer.ts';
import type { CallTerms } from '../operations/define.ts';
import { type AccessDecision, isSoldByCall, laneOf, refuseOverTier, tierQuota } from './access.ts';
import type { Admission } from './admission.ts';
import { type AdmittedCall, prepareCall } from './admit.ts';
import { callerNameOf } from './caller.ts';
import { runOnPayment } from './charge-payment.ts';
import { type ChargeOnce, runOnUnits } from './charge-units.ts';
import type { GateAnswer, GateRequest } from './gate.ts';
import { soldText } from './sale.ts';
import type { GateTools } from './tools.ts';
import { keepingQuery } from './usage.ts';

/** The second part of a call: it waits for its place, runs, and is charged. */

/** `once`: the hold of a call with an Idempotency-Key. Rejects with a `Failure`; what fails before the run costs nothing. */
export async function runAdmitted(
  gate: GateTools,
  request: GateRequest,
  admitted: AdmittedCall,
  once: ChargeOnce | null,
): Promise<GateAnswer> {
  const { surface, sender, deps } = request;
  const { identity, prepared, access } = admitted;
  await countInTier(gate, request, admitted);
  const callerName = callerNameOf(identity, sender.address, gate.identity);
  const place = await takePlace(gate, request, access, callerName);
  const asked = { surface, asked: prepared.asked ?? null, caller: identity.caller };
  try {
    return await keepingQuery(gate, asked, async (onRows) => {
      // The last check is the engine's. A refusal up to here costs nothing.
      await prepared.review?.(deps, callerName);
      const call = { ...admitted, callerName, once };
      const run: Run = async (paid) => {
        const outcome = await runNow(gate, request, call, paid);
        onRows(outcome.rows ?? null);
        return outcome;
      };
      // Release the place first: settlement time is unbounded, and a paid call is not refused for want of a place.
      if (access.by === 'payment') place?.leave();
      return await charge(gate, request, call, run);
    });
  } finally {
    place?.leave();
  }
}

interface RunningCall extends AdmittedCall {
  readonly callerName: string;
  readonly once: ChargeOnce | null;
}

/** `payment`: the one settled before the run, and the `sale` that it was claimed for. `hold`: the units held for it. */
interface Paid {
  readonly payment?: SettledPayment | null;
  readonly hold?: Hold | null;
  readonly sale?: ClaimedSale | null;
}

type Run = (paid: Paid) => Promise<Outcome>;

const UNCHARGED = { delivered: null, replayed: false, chargedQu: 0 } as const;

async function charge(
  gate: GateTools,
  request: GateRequest,
  call: RunningCall,
  run: Run,
): Promise<GateAnswer> {
  const { access, identity, once } = call;
  const { terms } = call.prepared;
  switch (access.by) {
    case 'nothing':
      return { ...UNCHARGED, answer: (await run({})).answer(NOT_CHARGED) };
    case 'units': {
      const offer = () => offerFor(gate, request, terms);
      const keyId = identity.caller.key?.id ?? null;
      return runOnUnits(
        { ...gate, units: gate.store.units },
        { ...access, terms, operation: request.operation.id, keyId, offer, once },
        (hold) => run({ hold }),
      );
    }
    case 'payment':
      return runPaid(gate, request, call, run);
    case 'refusal':
      throw refusalOf(gate, request, terms, access);
  }
}

async function countInTier(
  { counter }: GateTools,
  { progress }: GateRequest,
  { tier, identity: { quota } }: AdmittedCall,
): Promise<void> {
  if (tier === null) return;
  const window = await counter.count(tierQuota(tier, quota));
  progress.onRate(window, tier);
  refuseOverTier(window, tier, quota);
}

/** A run has its place before units are held or a payment is taken. An offer needs none, but for its review. */
function takePlace(
  { admission }: GateTools,
  { operation: { load = 'page' }, sender }: GateRequest,
  access: AccessDecision,
  callerName: string,
): ReturnType<Admission['enter']> | null {
  if (access.by === 'refusal' && load !== 'query') return null;
  return admission.enter({ load, callerName }, sender);
}

async function runNow(
  { plans }: GateTools,
  request: GateRequest,
  { read, prepared, identity: { caller }, access, callerName }: RunningCall,
  { payment = null, hold = null, sale = null }: Paid,
): Promise<Outcome> {
  const { surface, charging, deps, progress } = request;
  // Another request with this payment may have claimed it for what was sold a moment before.
  const isOther = sale !== null && sale.sold !== null && sale.sold !== soldText(prepared);
  const sold = isOther ? await prepareCall(request, read, caller, sale) : prepared;
  const lane = access.by === 'payment' ? 'x402' : laneOf(caller, surface, plans);
  progress.onRun(lane);
  const { idempotencyKey } = charging;
  return sold.run(deps, { caller, surface, lane, payment, idempotencyKey, callerName, hold });
}

function runPaid(
  gate: GateTools,
  { charging: { offers }, deps, progress }: GateRequest,
  { prepared, callerName }: RunningCall,
  run: Run,
): Promise<GateAnswer> {
  const { lane, log } = gate;
  if (lane === null || offers?.payment === undefined)
    throw new Error('a payment without a lane that takes it');
  const sent = {
    order: offers.order(prepared.terms),
    header: offers.payment,
    preflight: async () => prepared.preflight?.(deps, callerName),
  };
  const tools = {
    lane,
    log,
    onPaid: (receipt: string) => progress.onPaid(receipt),
    onEarned: (payment: SettledPayment) => grantShare(gate, payment),
  };
  return runOnPayment(tools, sent, prepared, (paid) => run(paid ?? {}));
}

/** The record of the payment says to whom how much belongs; that is granted once, however often the payment is answered. */
async function grantShare(
  { store, clock, log }: GateTools,
  { chain, asset, payer, nonce }: SettledPayment,
): Promise<void> {
  const payment = { chain, asset, payer, nonce };
  const { outcome } = await askStore(store.units.grantSale({ payment, atMs: clock.nowMs() }));
  if (outcome !== 'granted' && outcome !== 'replayed')
    log.error({ payment, outcome }, 'the share of a sale could not be granted');
}

function refusalOf(
  gate: GateTools,
  request: GateRequest,
  terms: CallTerms,
  { code, detail }: Extract<AccessDecision, { by: 'refusal' }>,
): Error {
  const offer = code === 'payment_required' ? offerFor(gate, request, terms) : undefined;
  return fail(code, { detail, ...(offer === undefined ? {} : { offer }) });
}

function offerFor(
  { lane }: GateTools,
  { charging: { offers } }: GateRequest,
  terms: CallTerms,
): PaymentOffer | undefined {
  return lane === null || offers === undefined || !isSoldByCall(terms)
    ? undefined
    : lane.offer(offers.order(terms));
}
