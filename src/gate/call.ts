import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { lentKeyDigest } from '../../core/domain/caller.ts';
import type { Hold } from '../../core/domain/hold.ts';
import type { PaymentOffer, SettledPayment } from '../../core/domain/payment.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import { fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ClaimedSale } from '../accounts/payment-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { type Answer, NOT_CHARGED, type Outcome } from '../operations/answer.ts';
import type { CallTerms, PreparedCall } from '../operations/define.ts';
import type { Caller } from '../operations/deps.ts';
import type { PaymentLane } from '../payment/payment-lane.ts';
import {
  type AccessDecision,
  admitEffects,
  admitToSql,
  admitToTier,
  decideAccess,
  isSoldByCall,
  laneOf,
  refuseOverTier,
  tierOf,
  tierQuota,
} from './access.ts';
import { type Admission, createAdmission } from './admission.ts';
import type { BearerTokens } from './bearer-token.ts';
import {
  addressQuota,
  admitKey,
  callerNameOf,
  checkToken,
  type Identity,
  type IdentityDeps,
  identify,
  likelyCallerName,
  readCredential,
} from './caller.ts';
import { runOnPayment } from './charge-payment.ts';
import { CAPTURE_RETRY_MS, callMs, runOnUnits } from './charge-units.ts';
import type { Gate, GateAnswer, GateRequest } from './gate.ts';
import { runOnce } from './idempotency.ts';
import { endedWithKey, KEY_LOOK_MS } from './key-watch.ts';
import {
  createKnownQuotas,
  createRequestCounter,
  isSameQuota,
  type KnownQuotas,
  type RequestCounter,
  refuseOverLimit,
} from './rate-limit.ts';
import { atSoldTerms, readSold, soldText } from './sale.ts';
import { keepingQuery, type UsageRecorder } from './usage.ts';

export interface GateDeps {
  readonly store: Pick<ControlStore, 'accounts' | 'units' | 'rates' | 'replies'>;
  /** Null where no calls are sold. */
  readonly lane: PaymentLane | null;
  /** Null where no bearer tokens are accepted. */
  readonly bearer: BearerTokens | null;
  readonly plans: Readonly<Record<PlanId, Plan>>;
  /** `requestsPerMinute`: of an anonymous address. */
  readonly access: Config['access'] & { readonly requestsPerMinute: number };
  /** `console.visitorKey`; absent where the console lends none. */
  readonly visitorKey?: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where nothing is recorded. */
  readonly usage?: UsageRecorder;
  /** In place of the product's own limits. */
  readonly limits?: GateLimits;
}

export interface GateLimits {
  readonly admission?: Admission;
  /** How long a capture is tried while the store does not answer. */
  readonly captureRetryMs?: number;
  /** Between two looks at the key of an open stream of events. */
  readonly keyLookMs?: number;
}

interface GateTools extends GateDeps {
  readonly admission: Admission;
  readonly captureRetryMs: number;
  readonly keyLookMs: number;
  readonly identity: IdentityDeps;
  readonly counter: RequestCounter;
  readonly quotas: KnownQuotas;
}

/** The answer is that of the first check in `call` that fails. */
export function createGate(deps: GateDeps): Gate {
  const { store, bearer, plans, access, clock, limits } = deps;
  const { trialRequestsPerMinute, requestsPerMinute } = access;
  const gate: GateTools = {
    ...deps,
    admission: limits?.admission ?? createAdmission(),
    captureRetryMs: limits?.captureRetryMs ?? CAPTURE_RETRY_MS,
    keyLookMs: limits?.keyLookMs ?? KEY_LOOK_MS,
    identity: {
      accounts: store.accounts,
      bearer,
      plans,
      trialRequestsPerMinute,
      requestsPerMinute,
      publicKey: lentKeyDigest(deps.visitorKey),
      clock,
    },
    counter: createRequestCounter(store.rates, clock),
    quotas: createKnownQuotas(),
  };
  return {
    call: (request) => call(gate, request),
    checkToken: (request) => checkToken({ bearer, requestsPerMinute, ...gate.counter }, request),
    refuses: (operation, sender) => {
      const { load = 'page' } = operation;
      if (load !== 'query' && isOffered(operation, sender, access.anonymous)) return false;
      return gate.admission.refuses(load, () => likelyCallerName(sender, gate));
    },
    reads: gate.admission.reads,
  };
}

/** Whether a call without a payment is answered with its price, whatever its parameters are. */
function isOffered(
  { price }: Parameters<Gate['refuses']>[0],
  { credentials }: Parameters<Gate['refuses']>[1],
  anonymous: Config['access']['anonymous'],
): boolean {
  if (price.class === 'sold') return true;
  if (price.class === 'free' || (price.class === 'keyed' && anonymous === 'open')) return false;
  return credentials.authorization === undefined && credentials['x-api-key'] === undefined;
}

/** One call from its request to its answer, in the order of the checks. */
async function call(gate: GateTools, request: GateRequest): Promise<GateAnswer> {
  const { operation, surface, charging, deps, progress } = request;
  // Validity, credential and rate limit. Every request is counted, once, also an invalid one.
  const { prepared: read, identity, window, raw } = await readAndCount(gate, request);
  const { caller, quota } = identity;
  progress.onRate(window, null);
  admitKey(caller, operation);
  admitEffects(caller, operation, read);
  refuseOverLimit(window, quota);
  // What was paid for and not answered yet is served as it was sold; otherwise what is stored is looked up for its caller.
  const bought = await recallSale(gate, request, read);
  const prepared = await prepareCall(request, read, caller, bought);
  const { terms } = prepared;
  // How the call is paid for, and whether the caller may have the tier that it asks for.
  const access = decideAccess({
    price: terms.price,
    caller,
    surface,
    anonymous: gate.access.anonymous,
    sellsCalls: gate.lane !== null && terms.jobHoldMs === undefined,
    hasPayment: charging.offers?.payment !== undefined,
    mayCharge: charging.mayCharge,
  });
  if (operation.load === 'query') admitToSql(deps.sql.openTo(), caller, bought !== null);
  const tier = tierOf(terms);
  // What was paid for was admitted when it was sold.
  if (tier !== null && bought === null)
    admitToTier(tier, { caller, pays: access.by === 'payment' }, gate.plans);
  // With an Idempotency-Key the rest runs once, and a repetition gets the stored answer. The lent key has many holders: none is given
  // the answer of another.
  const key = caller.key?.isLent === true ? undefined : charging.idempotencyKey;
  const repetition = { operation, access, key, raw, leaseMs: callMs(terms) };
  const answer = await runOnce(
    { replies: gate.store.replies, clock: gate.clock, log: gate.log },
    repetition,
    async (once) => {
      if (tier !== null) {
        const tierWindow = await gate.counter.count(tierQuota(tier, quota));
        progress.onRate(tierWindow, tier);
        refuseOverTier(tierWindow, tier, quota);
      }
      const callerName = callerNameOf(identity, request.sender.address, gate.identity);
      const place = await takePlace(gate, request, access, callerName);
      try {
        return await keepingQuery(
          gate,
          { surface, asked: prepared.asked ?? null, caller },
          async (onRows) => {
            // The last check is the engine's. A refusal up to here costs nothing.
            await prepared.review?.(deps, callerName);
            const run: Run = async ({ payment = null, hold = null, sale = null }) => {
              // Another request with this payment may have claimed it for what was sold a moment before.
              const isOther = sale !== null && sale.sold !== null && sale.sold !== soldText(prepared);
              const outcome = await runNow(gate, request, {
                prepared: isOther ? await prepareCall(request, read, caller, sale) : prepared,
                identity,
                access,
                callerName,
                payment,
                hold,
              });
              onRows(outcome.rows ?? null);
              return outcome;
            };
            switch (access.by) {
              case 'nothing':
                return { ...UNCHARGED, answer: (await run({})).answer(NOT_CHARGED) };
              case 'units': {
                const offer = () => offerFor(gate, request, terms);
                const keyId = caller.key?.id ?? null;
                return await runOnUnits(
                  { ...gate, units: gate.store.units },
                  { ...access, terms, operation: operation.id, keyId, offer, once },
                  (hold) => run({ hold }),
                );
              }
              case 'payment':
                // Release the place first: settlement time is unbounded, and a paid call is not refused for want of a place.
                place?.leave();
                return await runPaid(gate, request, { prepared, callerName }, run);
              case 'refusal':
                throw refusalOf(gate, request, terms, access);
            }
          },
        );
      } finally {
        place?.leave();
      }
    },
  );
  // A replay costs nothing and was counted when it was new; units were counted when they were captured.
  if (!answer.replayed && access.by !== 'units')
    gate.usage?.countCall(caller, { operation: operation.id, usdMicros: answer.paidUsdMicros ?? null });
  return { ...answer, answer: watchKey(gate, request, read, answer.answer) };
}

/** The answer, whose events end once the call would be refused for its credential. */
function watchKey(gate: GateTools, request: GateRequest, read: PreparedCall, answer: Answer): Answer {
  const check = () => checkKey(gate, request, read);
  return endedWithKey(answer, { check, lookMs: gate.keyLookMs, log: gate.log });
}

/** Refuses what the call would be refused for now, if it were made again with its credential. */
async function checkKey(
  gate: GateTools,
  { operation, sender }: GateRequest,
  read: PreparedCall,
): Promise<void> {
  const { caller } = await identify(readCredential(sender.credentials), sender.address, gate.identity);
  admitKey(caller, operation);
  admitEffects(caller, operation, read);
}

/** `payment`: the one settled before the run, and the `sale` that it was claimed for. `hold`: the units held for it. */
type Run = (paid: {
  readonly payment?: SettledPayment;
  readonly hold?: Hold;
  readonly sale?: ClaimedSale | null;
}) => Promise<Outcome>;

const UNCHARGED = { delivered: null, replayed: false, chargedQu: 0 } as const;

interface ReadRequest {
  readonly raw: ReturnType<GateRequest['raw']>;
  readonly prepared: PreparedCall;
  readonly identity: Identity;
  readonly window: Awaited<ReturnType<RequestCounter['count']>>;
}

/** A request that cannot be read is counted for its address, without a look-up of its key. */
async function readAndCount(gate: GateTools, request: GateRequest): Promise<ReadRequest> {
  const { operation, deps, sender, charging, progress } = request;
  try {
    const raw = request.raw();
    const prepared = operation.prepare(raw, { chains: deps.deployment.chains, cursorKeys: deps.cursorKeys });
    checkIdempotencyKey(charging.idempotencyKey);
    return { raw, prepared, ...(await identifyAndCount(gate, sender)) };
  } catch (error) {
    progress.onRate(await gate.counter.count(addressQuota(sender.address, gate.identity)), null);
    throw error;
  }
}

/**
 * Asks for the key and counts at the same time where the window is known from before; where the key has left that window, the
 * count is undone.
 */
async function identifyAndCount(
  gate: GateTools,
  { credentials, address }: GateRequest['sender'],
): Promise<Pick<ReadRequest, 'identity' | 'window'>> {
  const credential = readCredential(credentials);
  const digest = credential?.digest ?? null;
  const guess = digest === null ? undefined : gate.quotas.guess(digest);
  const ahead = guess === undefined ? undefined : gate.counter.countAhead(guess);
  const identity = await identify(credential, address, gate.identity);
  const { quota } = identity;
  if (guess !== undefined && ahead !== undefined) {
    if (isSameQuota(guess, quota)) return { identity, window: await ahead.decision };
    await ahead.undo();
  }
  if (digest !== null) gate.quotas.remember(digest, identity.caller.keyRecognised === true ? quota : null);
  return { identity, window: await gate.counter.count(quota) };
}

/** Long enough for any id; a longer text is refused, because two keys that are cut could become the same. */
const IDEMPOTENCY_KEY_MAX_CHARS = 255;

function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || key.length <= IDEMPOTENCY_KEY_MAX_CHARS) return;
  throw fail('malformed_request', {
    detail: `The Idempotency-Key is longer than ${IDEMPOTENCY_KEY_MAX_CHARS} characters.`,
  });
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

interface RunContext {
  readonly prepared: PreparedCall;
  readonly identity: Identity;
  readonly access: AccessDecision;
  readonly callerName: string;
  readonly payment: SettledPayment | null;
  readonly hold: Hold | null;
}

function runNow(
  { plans }: GateTools,
  { surface, charging: { idempotencyKey }, deps, progress }: GateRequest,
  { prepared, identity: { caller }, access, callerName, payment, hold }: RunContext,
): Promise<Outcome> {
  const lane = access.by === 'payment' ? 'x402' : laneOf(caller, surface, plans);
  progress.onRun(lane);
  return prepared.run(deps, { caller, surface, lane, payment, idempotencyKey, callerName, hold });
}

function runPaid(
  gate: GateTools,
  { charging: { offers }, deps, progress }: GateRequest,
  { prepared, callerName }: Pick<RunContext, 'prepared' | 'callerName'>,
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

/** What the payment of the request was claimed for, where it was claimed and not served; null for a call that takes no payment. */
function recallSale(
  { lane }: GateTools,
  { surface, charging: { mayCharge, offers } }: GateRequest,
  { terms }: PreparedCall,
): Promise<ClaimedSale | null> | null {
  const isTaken =
    surface === 'http' && mayCharge && terms.price.class !== 'free' && terms.jobHoldMs === undefined;
  if (lane === null || !isTaken || offers?.payment === undefined) return null;
  return askStore(lane.recall({ order: offers.order(terms), header: offers.payment }));
}

/** The call that is to run: the one that was bought, or what is stored under its path now. */
async function prepareCall(
  { deps }: GateRequest,
  read: PreparedCall,
  caller: Caller,
  bought: ClaimedSale | null,
): Promise<PreparedCall> {
  const sold = bought === null || bought.sold === null ? null : readSold(bought.sold);
  const call = (await read.resolve?.(deps, caller, sold?.item ?? null)) ?? read;
  return sold === null ? call : atSoldTerms(call, sold);
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
