import type { SqlTierId } from '../../core/domain/plan.ts';
import { fail } from '../../core/errors.ts';
import type { ClaimedSale } from '../accounts/payment-store.ts';
import { askStore } from '../accounts/store-failure.ts';
import type { PreparedCall } from '../operations/define.ts';
import type { Caller } from '../operations/deps.ts';
import {
  type AccessDecision,
  admitEffects,
  admitToSql,
  admitToTier,
  decideAccess,
  tierOf,
} from './access.ts';
import { addressQuota, admitKey, type Identity, identify, readCredential } from './caller.ts';
import type { GateRequest } from './gate.ts';
import { type RequestCounter, refuseOverLimit } from './rate-limit.ts';
import { atSoldTerms, readSold } from './sale.ts';
import type { GateTools } from './tools.ts';

/** The first part of a call: who asks for what, whether it is allowed, and how it is paid for. Nothing runs, and nothing is charged. */

export interface AdmittedCall {
  readonly identity: Identity;
  /** The parameters as they were sent. */
  readonly raw: ReturnType<GateRequest['raw']>;
  /** The call as it was asked for, before anything stored was looked up. */
  readonly read: PreparedCall;
  /** The call that is to run. */
  readonly prepared: PreparedCall;
  readonly access: AccessDecision;
  /** Null for a call without SQL. */
  readonly tier: SqlTierId | null;
}

/** Rejects with the `Failure` of the first check that the call does not pass. Every request is counted, once, also an invalid one. */
export async function admit(gate: GateTools, request: GateRequest): Promise<AdmittedCall> {
  const { operation, surface, charging, deps, progress } = request;
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
  return { identity, raw, read, prepared, access, tier };
}

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

async function identifyAndCount(
  gate: GateTools,
  { credentials, address }: GateRequest['sender'],
): Promise<Pick<ReadRequest, 'identity' | 'window'>> {
  const credential = readCredential(credentials);
  const identity = await identify(credential, address, gate.identity);
  const { caller, quota } = identity;
  const digest = credential?.digest ?? null;
  if (digest !== null && caller.organization !== null) gate.knownNames.set(digest, quota.key);
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
export async function prepareCall(
  { deps }: GateRequest,
  read: PreparedCall,
  caller: Caller,
  bought: ClaimedSale | null,
): Promise<PreparedCall> {
  const sold = bought === null || bought.sold === null ? null : readSold(bought.sold);
  const call = (await read.resolve?.(deps, caller, sold?.item ?? null)) ?? read;
  return sold === null ? call : atSoldTerms(call, sold);
}
