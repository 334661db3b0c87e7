import { NOT_CHARGED, type Outcome } from '../catalogue/answer.ts';
import type { CallContext, Caller, PreparedCall, ReviewedRun } from '../catalogue/operation.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { ControlStore, RateDecision } from '../control/control-store.ts';
import type { PaymentOffer, SettledPayment } from '../domain/payment.ts';
import type { Plan, PlanId } from '../domain/plan.ts';
import { ERRORS, Failure, fail } from '../errors.ts';
import type { Log } from '../log.ts';
import type { PaidCall, PaymentLane } from '../payment/payment-lane.ts';
import type { BearerTokens } from './bearer-token.ts';
import { addressQuota, admit, type Identity, type IdentityDeps, identify, readCredential } from './caller.ts';
import type { Gate, GateAnswer, GateRequest } from './gate.ts';
import { createKnownQuotas, isSameQuota, type KnownQuotas } from './known-quotas.ts';
import { laneOf, type Passage, passageOf } from './lanes.ts';
import { type CountRequest, createRequestCounter, refuseOverLimit } from './rate-limit.ts';
import { runOnUnits } from './run-on-units.ts';
import { askStore } from './store-failure.ts';

export interface GateDeps {
  readonly store: Pick<ControlStore, 'accounts' | 'units' | 'rates'>;
  /** Null where no calls are sold. */
  readonly lane: PaymentLane | null;
  /** Null where no bearer tokens are accepted. */
  readonly bearer: BearerTokens | null;
  readonly plans: Readonly<Record<PlanId, Plan>>;
  readonly access: Config['access'];
  /** Of an anonymous address. */
  readonly requestsPerMinute: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface GateTools extends GateDeps {
  readonly identity: IdentityDeps;
  readonly count: CountRequest;
  readonly quotas: KnownQuotas;
}

/**
 * The gate of api.md 4. What is answered is the first check that fails, in that order. Every request is counted first, once:
 * an invalid one for its address, so that nothing is looked up for it, any other for whoever sent it.
 */
export function createGate(deps: GateDeps): Gate {
  const { store, bearer, plans, access, requestsPerMinute, clock } = deps;
  const { accounts } = store;
  const { trialRequestsPerMinute } = access;
  const gate: GateTools = {
    ...deps,
    identity: { accounts, bearer, plans, trialRequestsPerMinute, requestsPerMinute, clock },
    count: createRequestCounter(store.rates, clock),
    quotas: createKnownQuotas(),
  };
  return { call: (request) => call(gate, request) };
}

async function call(gate: GateTools, request: GateRequest): Promise<GateAnswer> {
  const { prepared, identity, decision } = await readRequest(gate, request);
  const { caller, quota } = identity;
  request.onRate(decision);
  admit(caller, request.operation);
  refuseOverLimit(decision, quota);
  const run = await prepared.review(request.deps);
  const { surface, mayCharge, shop } = request;
  const passage = passageOf({
    price: prepared.terms.price,
    caller,
    surface,
    anonymous: gate.access.anonymous,
    sellsCalls: gate.lane !== null,
    hasPayment: shop?.payment !== undefined,
    mayCharge,
  });
  return pass(gate, request, { passage, caller, run, callerName: quota.key });
}

interface Readable {
  readonly prepared: PreparedCall;
  readonly identity: Identity;
  readonly decision: RateDecision;
}

/** Validity, credential and count. Whatever cannot be read further is counted for its address. */
async function readRequest(gate: GateTools, request: GateRequest): Promise<Readable> {
  const { operation, raw, deps, credentials, address, idempotencyKey } = request;
  try {
    const prepared = operation.prepare(raw, deps);
    checkIdempotencyKey(idempotencyKey);
    return { prepared, ...(await identifyAndCount(gate, readCredential(credentials), address)) };
  } catch (error) {
    request.onRate(await gate.count(addressQuota(address, gate)));
    throw error;
  }
}

/** Both questions at once where the window is known from before; the answer about the key decides which one counts. */
async function identifyAndCount(
  gate: GateTools,
  credential: string | null,
  address: string,
): Promise<Omit<Readable, 'prepared'>> {
  const guess = credential === null ? undefined : gate.quotas.guess(credential);
  const ahead = guess === undefined ? undefined : gate.count(guess);
  ahead?.catch(() => undefined); // whoever awaits it is told; when the key cannot be read nobody does
  const identity = await identify(credential, address, gate.identity);
  const { quota } = identity;
  if (guess !== undefined && ahead !== undefined && isSameQuota(guess, quota))
    return { identity, decision: await ahead };
  if (credential !== null && identity.caller.keyRecognised === true) gate.quotas.remember(credential, quota);
  return { identity, decision: await gate.count(quota) };
}

/** Long enough for any id; a longer text is refused rather than cut, because two keys must not become one. */
const IDEMPOTENCY_KEY_MAX_CHARS = 255;

function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || key.length <= IDEMPOTENCY_KEY_MAX_CHARS) return;
  throw fail('malformed_request', {
    detail: `The Idempotency-Key is longer than ${IDEMPOTENCY_KEY_MAX_CHARS} characters.`,
  });
}

interface Admitted {
  readonly passage: Passage;
  readonly caller: Caller;
  readonly run: ReviewedRun;
  readonly callerName: string;
}

function pass(gate: GateTools, request: GateRequest, admitted: Admitted): Promise<GateAnswer> {
  const { passage } = admitted;
  switch (passage.by) {
    case 'nothing':
      return passFree(request, admitted);
    case 'units':
      return passOnUnits(gate, request, admitted, passage);
    case 'payment':
      return passPaid(gate, request, admitted);
    case 'refusal':
      throw refusalOf(gate, request, passage);
  }
}

async function passFree(request: GateRequest, admitted: Admitted): Promise<GateAnswer> {
  const outcome = await runNow(request, admitted, null);
  return { answer: outcome.answer(NOT_CHARGED), delivered: null };
}

async function passOnUnits(
  gate: GateTools,
  request: GateRequest,
  admitted: Admitted,
  { organizationId, units }: Extract<Passage, { by: 'units' }>,
): Promise<GateAnswer> {
  const tools = { units: gate.store.units, clock: gate.clock, log: gate.log };
  const operation = request.operation.id;
  const charge = { organizationId, units, operation, offer: () => offerOf(gate, request) };
  const outcome = await runOnUnits(tools, charge, () => runNow(request, admitted, null));
  return { answer: outcome.answer(NOT_CHARGED), delivered: null };
}

async function passPaid(gate: GateTools, request: GateRequest, admitted: Admitted): Promise<GateAnswer> {
  const { lane, log } = gate;
  const { shop } = request;
  if (lane === null || shop?.payment === undefined) throw new Error('a payment that nobody can take');
  const paid = await askStore(lane.take(shop.order(), { payment: shop.payment }));
  request.onPaid(paid.receiptHeader);
  try {
    const outcome = await runNow(request, admitted, paid.payment);
    return { answer: outcome.answer(NOT_CHARGED), delivered: (answered) => finish(paid, answered, log) };
  } catch (error) {
    await finish(paid, false, log);
    throw afterPayment(error, paid.payment);
  }
}

/** A payment that cannot be marked stays in use until its lease lapses, and can be sent again then. */
async function finish(paid: PaidCall, answered: boolean, log: Log): Promise<void> {
  try {
    await paid.finish(answered);
  } catch (error) {
    log.warn({ err: error, answered }, 'a paid call could not be marked as finished');
  }
}

/** Tells who paid for a run that failed on our side that the money is not lost. */
function afterPayment(error: unknown, { transaction }: SettledPayment): unknown {
  const known = error instanceof Failure ? error : undefined;
  if (known !== undefined && ERRORS[known.code].status < 500) return known;
  if (known?.context.payment !== undefined) return known;
  return fail(known?.code ?? 'internal_error', {
    cause: error,
    ...known?.context,
    detail: `${known?.message ?? 'The service failed to answer this request; the fault was logged.'} The payment settled: send the same request with the same payment again, it is not charged twice.`,
    payment: { stage: 'settle', transaction },
  });
}

function runNow(
  request: GateRequest,
  { run, caller, callerName }: Admitted,
  payment: SettledPayment | null,
): Promise<Outcome> {
  const { surface, idempotencyKey, deps } = request;
  const lane = payment === null ? laneOf(caller, surface) : 'x402';
  const context: CallContext = { caller, surface, lane, payment, idempotencyKey, callerName };
  request.onRun();
  return run(deps, context);
}

function refusalOf(
  gate: GateTools,
  request: GateRequest,
  { code, detail }: Extract<Passage, { by: 'refusal' }>,
): Failure {
  const offer = code === 'payment_required' ? offerOf(gate, request) : undefined;
  return fail(code, { detail, ...(offer === undefined ? {} : { offer }) });
}

function offerOf({ lane }: GateTools, { shop }: GateRequest): PaymentOffer | undefined {
  return lane === null || shop === undefined ? undefined : lane.offer(shop.order());
}
