import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { PaymentOffer, SettledPayment } from '../../core/domain/payment.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import { type Failure, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ControlStore, RateDecision } from '../accounts/store.ts';
import { NOT_CHARGED, type Outcome } from '../operations/answer.ts';
import type { CallContext, Caller, CallTerms, PreparedCall, ReviewedCall } from '../operations/define.ts';
import { sqlTierOf } from '../operations/prices.ts';
import type { PaymentLane } from '../payment/payment-lane.ts';
import { type Admission, createAdmission } from './admission.ts';
import type { BearerTokens } from './bearer-token.ts';
import {
  addressQuota,
  admit,
  type Identity,
  type IdentityDeps,
  identify,
  readCredential,
  type SentCredential,
} from './caller.ts';
import { checkToken } from './check-token.ts';
import type { Gate, GateAnswer, GateRequest } from './gate.ts';
import { digestOfCall, runRepeatable } from './idempotency.ts';
import { createKnownQuotas, isSameQuota, type KnownQuotas } from './known-quotas.ts';
import { type AccessDecision, decideAccess, laneOf } from './lanes.ts';
import { createRequestCounter, type Quota, type RequestCounter, refuseOverLimit } from './rate-limit.ts';
import { runOnPayment } from './run-on-payment.ts';
import { CAPTURE_PATIENCE_MS, type ChargeOnce, HOLD_OVERDUE_AFTER_MS, runOnUnits } from './run-on-units.ts';
import { askStore } from './store-failure.ts';
import { admitToSql, admitToTier, isSoldByCall, refuseOverTier, tierOf, tierQuota } from './tiers.ts';

export interface GateDeps {
  readonly store: Pick<ControlStore, 'accounts' | 'units' | 'rates' | 'replies'>;
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
  /** Made with the limits of the product where it is not given. */
  readonly admission?: Admission;
  /** How long a capture is tried while the store does not answer; the product's where it is not given. */
  readonly capturePatienceMs?: number;
}

interface GateTools extends GateDeps {
  readonly admission: Admission;
  readonly capturePatienceMs: number;
  readonly identity: IdentityDeps;
  readonly counter: RequestCounter;
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
    admission: deps.admission ?? createAdmission(),
    capturePatienceMs: deps.capturePatienceMs ?? CAPTURE_PATIENCE_MS,
    identity: { accounts, bearer, plans, trialRequestsPerMinute, requestsPerMinute, clock },
    counter: createRequestCounter(store.rates, clock),
    quotas: createKnownQuotas(),
  };
  return {
    call: (request) => call(gate, request),
    checkToken: (request) => checkToken({ ...gate, ...gate.counter }, request),
  };
}

async function call(gate: GateTools, request: GateRequest): Promise<GateAnswer> {
  const { raw, prepared, identity, decision: rate } = await readRequest(gate, request);
  const { caller, quota } = identity;
  const { terms } = prepared;
  request.onRate(rate, null);
  admit(caller, request.operation);
  refuseOverLimit(rate, quota);
  const { surface, mayCharge, offers } = request;
  const decision = decideAccess({
    price: terms.price,
    caller,
    surface,
    anonymous: gate.access.anonymous,
    sellsCalls: gate.lane !== null,
    hasPayment: offers?.payment !== undefined,
    mayCharge,
  });
  if (request.operation.load === 'query') admitToSql(request.deps.sql.openTo(), caller);
  const tier = tierOf(terms);
  if (tier !== null) admitToTier(tier, { caller, pays: decision.by === 'payment' }, gate.plans);
  const admitted = { prepared, decision, caller, quota };
  if (!request.operation.repeatable || decision.by !== 'units' || request.idempotencyKey === undefined)
    return await review(gate, request, admitted, null);
  const { operation, idempotencyKey: key } = request;
  const scope = `${operation.id}:${decision.organizationId}`;
  const repeatable = {
    scope,
    key,
    requestDigest: digestOfCall(operation.id, raw),
    leaseMs: overdueAfterMs(terms),
  };
  return runRepeatable({ ...gate, replies: gate.store.replies }, repeatable, (once) =>
    review(gate, request, admitted, once),
  );
}

/** Until when a run may hold units: no limit of its own ends later. */
function overdueAfterMs(terms: CallTerms): number {
  const tier = tierOf(terms);
  return HOLD_OVERDUE_AFTER_MS + (tier === null ? 0 : sqlTierOf(tier).timeoutSeconds * 1_000);
}

/** The last checks, by the tier's window and by the engine, before a lane is taken. */
async function review(
  gate: GateTools,
  request: GateRequest,
  { prepared, decision, caller, quota }: Reviewable,
  once: ChargeOnce | null,
): Promise<GateAnswer> {
  const tier = tierOf(prepared.terms);
  if (tier !== null) {
    const decision = await gate.counter.count(tierQuota(tier, quota));
    request.onRate(decision, tier);
    refuseOverTier(decision, tier, quota);
  }
  const callerName = nameOf({ caller, quota }, request.address, gate);
  const place = await placeFor(gate, request, { decision, callerName });
  try {
    const reviewed = await prepared.review(request.deps, callerName);
    const admitted = { terms: prepared.terms, decision, caller, reviewed, callerName, once };
    // A settlement takes as long as somebody else's machine does, and who has paid is not turned away: the place was only asked for.
    if (decision.by === 'payment') place?.leave();
    return await pass(gate, request, admitted);
  } finally {
    place?.leave();
  }
}

/** Keys and tokens without an organization can be made at will: turns and penalties count those who hold them by their address. */
function nameOf({ caller, quota }: Identity, address: string, gate: GateTools): string {
  return caller.organization === null ? addressQuota(address, gate).key : quota.key;
}

/** Whether a run has a place is known before units are held or a payment is taken. An offer needs none, but for its review. */
function placeFor(
  { admission }: GateTools,
  request: GateRequest,
  { decision, callerName }: { readonly decision: AccessDecision; readonly callerName: string },
): ReturnType<Admission['enter']> | null {
  const { load = 'page' } = request.operation;
  if (decision.by === 'refusal' && load !== 'query') return null;
  return admission.enter({ load, callerName }, request);
}

interface Reviewable {
  readonly prepared: PreparedCall;
  readonly decision: AccessDecision;
  readonly caller: Caller;
  readonly quota: Quota;
}

interface Readable {
  readonly raw: ReturnType<GateRequest['raw']>;
  readonly prepared: PreparedCall;
  readonly identity: Identity;
  readonly decision: RateDecision;
}

/** Validity, credential and count. Whatever cannot be read further is counted for its address. */
async function readRequest(gate: GateTools, request: GateRequest): Promise<Readable> {
  const { operation, deps, credentials, address, idempotencyKey } = request;
  try {
    const raw = request.raw();
    const prepared = operation.prepare(raw, deps);
    checkIdempotencyKey(idempotencyKey);
    return { raw, prepared, ...(await identifyAndCount(gate, readCredential(credentials), address)) };
  } catch (error) {
    request.onRate(await gate.counter.count(addressQuota(address, gate)), null);
    throw error;
  }
}

/** Both questions at once where the window is known from before; where the key has left that window, it is not counted there. */
async function identifyAndCount(
  gate: GateTools,
  credential: SentCredential | null,
  address: string,
): Promise<Pick<Readable, 'identity' | 'decision'>> {
  const digest = credential?.digest ?? null;
  const guess = digest === null ? undefined : gate.quotas.guess(digest);
  const ahead = guess === undefined ? undefined : gate.counter.countAhead(guess);
  const identity = await identify(credential, address, gate.identity);
  const { quota } = identity;
  if (guess !== undefined && ahead !== undefined) {
    if (isSameQuota(guess, quota)) return { identity, decision: await ahead.decision };
    await ahead.undo();
  }
  if (digest !== null) gate.quotas.remember(digest, identity.caller.keyRecognised === true ? quota : null);
  return { identity, decision: await gate.counter.count(quota) };
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
  readonly terms: CallTerms;
  readonly decision: AccessDecision;
  readonly caller: Caller;
  readonly reviewed: ReviewedCall;
  readonly callerName: string;
  readonly once: ChargeOnce | null;
}

function pass(gate: GateTools, request: GateRequest, admitted: Admitted): Promise<GateAnswer> {
  const { decision } = admitted;
  switch (decision.by) {
    case 'nothing':
      return passFree(gate, request, admitted);
    case 'units':
      return passOnUnits(gate, request, admitted, decision);
    case 'payment':
      return passPaid(gate, request, admitted);
    case 'refusal':
      throw refusalOf(gate, request, admitted.terms, decision);
  }
}

async function passFree(gate: GateTools, request: GateRequest, admitted: Admitted): Promise<GateAnswer> {
  const outcome = await runNow(gate, request, admitted, null);
  return { answer: outcome.answer(NOT_CHARGED), delivered: null, replayed: false, chargedQu: 0 };
}

async function passOnUnits(
  gate: GateTools,
  request: GateRequest,
  admitted: Admitted,
  { organizationId, units }: Extract<AccessDecision, { by: 'units' }>,
): Promise<GateAnswer> {
  const { terms, once } = admitted;
  const { clock, log, capturePatienceMs } = gate;
  const tools = { units: gate.store.units, clock, log, capturePatienceMs };
  const call = {
    organizationId,
    units,
    byUse: terms.byUse,
    operation: request.operation.id,
    overdueAfterMs: overdueAfterMs(terms),
    offer: () => offerOf(gate, request, terms),
    once,
  };
  const { outcome, charge } = await runOnUnits(tools, call, () => runNow(gate, request, admitted, null));
  return { answer: outcome.answer(charge), delivered: null, replayed: false, chargedQu: charge.chargedQu };
}

async function passPaid(gate: GateTools, request: GateRequest, admitted: Admitted): Promise<GateAnswer> {
  const { lane, log } = gate;
  const { offers } = request;
  const { terms, reviewed, callerName } = admitted;
  if (lane === null || offers?.payment === undefined) throw new Error('a payment that nobody can take');
  const preflight = () => reviewed.preflight(request.deps, callerName);
  const paid = await askStore(lane.take(offers.order(terms), { payment: offers.payment }, preflight));
  const tools = { log, onPaid: (receiptHeader: string) => request.onPaid(receiptHeader) };
  return runOnPayment(tools, paid, terms, (payment) => runNow(gate, request, admitted, payment));
}

function runNow(
  { plans }: GateTools,
  request: GateRequest,
  { reviewed, decision, caller, callerName }: Admitted,
  payment: SettledPayment | null,
): Promise<Outcome> {
  const { surface, idempotencyKey, deps } = request;
  const lane = decision.by === 'payment' ? 'x402' : laneOf(caller, surface, plans);
  const context: CallContext = { caller, surface, lane, payment, idempotencyKey, callerName };
  request.onRun(lane);
  return reviewed.run(deps, context);
}

function refusalOf(
  gate: GateTools,
  request: GateRequest,
  terms: CallTerms,
  { code, detail }: Extract<AccessDecision, { by: 'refusal' }>,
): Failure {
  const offer = code === 'payment_required' ? offerOf(gate, request, terms) : undefined;
  return fail(code, { detail, ...(offer === undefined ? {} : { offer }) });
}

function offerOf({ lane }: GateTools, { offers }: GateRequest, terms: CallTerms): PaymentOffer | undefined {
  return lane === null || offers === undefined || !isSoldByCall(terms)
    ? undefined
    : lane.offer(offers.order(terms));
}
