import type { Lane, Surface } from '../../core/domain/caller.ts';
import { type Effect, KEY_RIGHT_TEXTS, KEY_RIGHTS } from '../../core/domain/key-right.ts';
import { PLAN_IDS, type Plan, type PlanId, type SqlCallers, type SqlTierId } from '../../core/domain/plan.ts';
import { fail } from '../../core/errors.ts';
import type { RateDecision } from '../accounts/store.ts';
import type { AnyOperation, CallTerms, PreparedCall } from '../operations/define.ts';
import type { Caller } from '../operations/deps.ts';
import { type Price, SQL_TIER_SOLD, sqlTierOf } from '../operations/prices.ts';
import type { Quota } from './rate-limit.ts';

/** Whether a call may run and how it is paid for: pure tables of effects × key and of price class × caller × surface, and the SQL tiers of a plan. */

/** The effects that a call of each operation can have. One that is not named here and changes something takes all rights. */
export const EFFECTS: Readonly<Record<string, readonly Effect[]>> = {
  getAccount: ['reads'],
  getAccountUsage: ['reads'],
  listAccountQueries: ['keeps'],
  forgetAccountQueries: ['keeps'],
  listAccountKeys: ['reads'],
  makeAccountKey: ['manages'],
  changeAccountKey: ['manages'],
  revokeAccountKey: ['manages'],
  claimHandle: ['manages'],
  listFlows: ['reads'],
  listTransactions: ['reads'],
  getTransaction: ['reads'],
  listEntitySettlements: ['reads'],
  getEntitySummary: ['reads'],
  listCounterparties: ['reads'],
  listEntityChannels: ['reads'],
  getChannel: ['reads'],
  getCoverage: ['reads'],
  getPair: ['reads'],
  listWallets: ['reads'],
  listFacilitators: ['reads'],
  listMerchants: ['reads'],
  getMerchant: ['reads'],
  getAgent: ['reads'],
  listAgents: ['reads'],
  getLeaderboard: ['reads'],
  listAttestations: ['reads'],
  getGraph: ['reads', 'spends'],
  listCapabilities: ['reads'],
  getCapability: ['reads'],
  listEndpoints: ['reads'],
  listBundles: ['reads'],
  getBundleFile: ['reads'],
  getTelemetry: ['reads'],
  getSqlSchema: ['reads'],
  runSql: ['reads', 'spends', 'keeps'],
  getRunningQuery: ['reads'],
  cancelRunningQuery: ['spends'],
  runClickhouse: ['reads', 'spends'],
  introspectClickhouse: ['reads'],
  createSqlJob: ['reads', 'spends', 'keeps'],
  listSqlJobs: ['keeps'],
  getSqlJob: ['keeps'],
  cancelSqlJob: ['keeps', 'spends'],
  getResult: ['reads'],
  shareResult: ['keeps', 'publishes'],
  listResultShares: ['keeps'],
  revokeResultShare: ['keeps'],
  getSharedResult: ['reads'],
  putTable: ['keeps', 'changes'],
  listTables: ['keeps'],
  getTable: ['keeps'],
  deleteTable: ['keeps', 'changes'],
  saveQuery: ['keeps', 'changes', 'publishes', 'schedules'],
  listSavedQueries: ['keeps'],
  getSavedQuery: ['keeps'],
  deleteSavedQuery: ['keeps', 'changes'],
  listQueryVersions: ['keeps'],
  listQueryRefreshes: ['keeps'],
  listPublicQueries: ['reads'],
  callSavedQuery: ['reads', 'spends'],
  getPublicQuery: ['reads'],
  getOwnerOpenApi: ['reads'],
  listDashboards: ['reads'],
  getDashboard: ['reads'],
  getDashboardPanel: ['reads'],
  saveDashboard: ['keeps', 'changes', 'publishes'],
  deleteDashboard: ['keeps', 'changes'],
  mintTrialKey: ['reads'],
};

/** The effects of this call: the effects of its operation, unless its input has fewer of them. */
function effectsOf(
  { id, changes }: Pick<AnyOperation, 'id' | 'changes'>,
  { effects }: Pick<PreparedCall, 'effects'>,
): readonly Effect[] {
  return effects ?? EFFECTS[id] ?? (changes === undefined ? ['reads'] : ['keeps', ...KEY_RIGHTS]);
}

/**
 * Refuses what the key has no right to, also for a call that is paid for. Callers without an organization, and bearer tokens, are left to
 * the operation.
 */
export function admitEffects(
  { key, organization }: Pick<Caller, 'key' | 'organization'>,
  operation: Pick<AnyOperation, 'id' | 'changes'>,
  prepared: Pick<PreparedCall, 'effects'>,
): void {
  if (key == null || organization === null) return;
  const effects = effectsOf(operation, prepared);
  if (key.isLent && effects.includes('keeps'))
    throw fail('key_restricted', {
      detail: `This key is lent to every visitor of the console: it has no history, no jobs and no saved queries, and this call of ${operation.id} needs one of them. Send a key of your own, or ask by POST /v0/sql (run_sql) without wait_seconds.`,
    });
  const lacking = KEY_RIGHTS.filter((right) => effects.includes(right) && !key.rights.includes(right));
  if (lacking.length === 0) return;
  const meaning = lacking.map((right) => `${right} (it ${KEY_RIGHT_TEXTS[right]})`).join(', ');
  throw fail('key_restricted', {
    detail: `This key lacks the right ${meaning}. A key that manages keys can give it: PATCH /v0/account/keys/${key.id}.`,
  });
}

/**
 * The lane that the caller would take on a metered route. A plan without any SQL tier excludes that route: on surfaces where nothing
 * can be paid for instead, that is `upgrade_required`.
 */
export function laneOf(
  { keyRecognised, organization }: Pick<Caller, 'keyRecognised' | 'organization'>,
  surface: Surface,
  plans: Readonly<Record<PlanId, Plan>>,
): Lane {
  if (keyRecognised === false) return 'invalid_key';
  if (organization === null) return surface === 'http' ? 'x402' : 'no_account';
  const isExcluded = plans[organization.plan].sqlTiers.length === 0;
  return surface !== 'http' && isExcluded ? 'upgrade_required' : 'credit';
}

/** What must happen before and after the run. */
export type AccessDecision =
  | { readonly by: 'nothing' }
  | { readonly by: 'units'; readonly organizationId: string; readonly units: number }
  | { readonly by: 'payment' }
  | { readonly by: 'refusal'; readonly code: RefusalCode; readonly detail: string };

export type RefusalCode = 'payment_required' | 'api_key_required' | 'not_found';

interface AccessRequest {
  readonly price: Pick<Price, 'class' | 'qu'>;
  readonly caller: Caller;
  readonly surface: Surface;
  /** What callers without a key get on `keyed` routes. */
  readonly anonymous: 'priced' | 'open';
  /** Whether this deployment sells single calls over x402. */
  readonly sellsCalls: boolean;
  /** Whether the request carries a payment. */
  readonly hasPayment: boolean;
  /** False for HEAD, which shows the price and never takes it. */
  readonly mayCharge: boolean;
}

/**
 * A payment takes precedence over a key: a caller who sends one wants to pay with it. Where it cannot be taken (a free route, a
 * surface or a deployment without the x402 lane, HEAD) it is ignored and never settled.
 */
export function decideAccess(access: AccessRequest): AccessDecision {
  if (isPaid(access)) return { by: 'payment' };
  switch (access.price.class) {
    case 'free':
      return { by: 'nothing' };
    case 'keyed':
      return mayPassUnpaid(access) ? { by: 'nothing' } : refusal(access);
    case 'metered':
      return drawUnits(access);
    case 'sold':
      return access.sellsCalls
        ? { by: 'refusal', code: 'payment_required', detail: soldDetail(access.surface) }
        : { by: 'refusal', code: 'not_found', detail: 'This deployment sells nothing over x402.' };
  }
}

function isPaid(access: AccessRequest): boolean {
  return access.price.class !== 'free' && access.hasPayment && access.mayCharge && acceptsPayment(access);
}

function acceptsPayment({ surface, sellsCalls }: AccessRequest): boolean {
  return surface === 'http' && sellsCalls;
}

function mayPassUnpaid({ caller, anonymous }: AccessRequest): boolean {
  return caller.standing !== 'anonymous' || anonymous === 'open';
}

function drawUnits(access: AccessRequest): AccessDecision {
  const { caller, price, mayCharge } = access;
  if (caller.organization === null) return refusal(access);
  if (!mayCharge)
    return {
      by: 'refusal',
      code: 'payment_required',
      detail: 'HEAD shows the price of this route and charges nothing. Send GET.',
    };
  if (price.qu === null) throw new Error('a metered route without a price in units');
  return { by: 'units', organizationId: caller.organization.id, units: price.qu };
}

function soldDetail(surface: Surface): string {
  return surface === 'http'
    ? 'This call is sold over x402 only; a key does not pay for it.'
    : 'This call is sold over x402 only, on the HTTP surface; no payment can be sent here.';
}

function refusal(access: AccessRequest): AccessDecision {
  const isAnonymous = access.caller.standing === 'anonymous';
  if (acceptsPayment(access))
    return {
      by: 'refusal',
      code: 'payment_required',
      detail: isAnonymous
        ? 'No key was sent. Send one, or pay for this call.'
        : 'This key has no organization with units. Pay for this call, or send the key of an organization.',
    };
  const noPayment = access.sellsCalls
    ? 'no payment can be sent here: single calls are sold on the HTTP surface'
    : 'single calls are not sold here';
  if (isAnonymous)
    return { by: 'refusal', code: 'api_key_required', detail: `No key was sent, and ${noPayment}.` };
  return {
    by: 'refusal',
    code: 'payment_required',
    detail: `This key has no organization with units, and ${noPayment}.`,
  };
}

type Plans = Readonly<Record<PlanId, Plan>>;

/** The tier that a call is admitted to; null where its price has none, and for free calls. */
export function tierOf({ tier, price }: CallTerms): SqlTierId | null {
  return price.class === 'free' ? null : tier;
}

/**
 * Refuses with `upgrade_required` a tier that the caller cannot have. Units buy the tiers of the organization's plan, payments
 * and callers without an organization the one that is sold call by call.
 */
export function admitToTier(
  tier: SqlTierId,
  {
    caller: { organization },
    pays,
  }: { readonly caller: Pick<Caller, 'organization'>; readonly pays: boolean },
  plans: Plans,
): void {
  const onPlan = organization !== null && !pays;
  const allowed = onPlan ? plans[organization.plan].sqlTiers : [SQL_TIER_SOLD.tier];
  if (allowed.includes(tier)) return;
  throw fail('upgrade_required', {
    detail: `${onPlan ? `The plan ${organization.plan} does not include the tier ${tier}.` : `Without the plan of an organization only the tier ${SQL_TIER_SOLD.tier} can be had.`} ${whoIncludes(tier, plans)}`,
  });
}

/** The walls around the engine are asked for anew within minutes. */
const PAID_SQL_RETRY_SECONDS = 300;

/** Refuses SQL, on every lane, where it is for organizations only; an estimate as well, because the engine works on its text too. */
export function admitToSql(
  openTo: SqlCallers,
  { organization }: Pick<Caller, 'organization'>,
  isPaid: boolean,
): void {
  if (openTo === 'everyone' || organization !== null) return;
  if (isPaid)
    throw fail('upstream_unavailable', {
      resource: 'sql',
      detail:
        'SQL is for organizations only in this deployment at the moment. This request was paid for: send it again later with the same payment, it is not charged twice.',
      retryAfterSeconds: PAID_SQL_RETRY_SECONDS,
    });
  throw fail('upgrade_required', {
    detail:
      'SQL is for organizations only in this deployment: send the key of one. Every other route is open as usual. Nothing was charged.',
  });
}

function whoIncludes(tier: SqlTierId, plans: Plans): string {
  const including = PLAN_IDS.filter((id) => plans[id].sqlTiers.includes(tier));
  if (including.length === 0) return 'No plan of this deployment includes it.';
  return `${tier} is included in: ${including.join(', ')}.`;
}

/** Whether x402 can buy a call on these terms. */
export function isSoldByCall({ tier, jobHoldMs }: CallTerms): boolean {
  return jobHoldMs === undefined && (tier === null || tier === SQL_TIER_SOLD.tier);
}

/** The caller's own window in the tier; it counts in addition to the one that all requests share. */
export function tierQuota(tier: SqlTierId, { key, whose }: Quota): Quota {
  // Tier first: no organization id can then collide with another one's window.
  return { key: `sql-${tier}:${key}`, requestsPerMinute: sqlTierOf(tier).requestsPerMinute, whose };
}

export function refuseOverTier(decision: RateDecision, tier: SqlTierId, { whose }: Quota): void {
  const { allowed, limit, resetSeconds } = decision;
  if (allowed) return;
  throw fail('rate_limited', {
    detail: `More than ${limit} queries of the tier ${tier} in a minute came from ${whose}.`,
    retryAfterSeconds: resetSeconds,
  });
}
