import { PLAN_IDS, type Plan, type PlanId, type SqlCallers, type SqlTierId } from '../../core/domain/plan.ts';
import { fail } from '../../core/errors.ts';
import type { RateDecision } from '../accounts/store.ts';
import type { Caller, CallTerms } from '../operations/define.ts';
import { SQL_TIER_SOLD, sqlTierOf } from '../operations/prices.ts';
import type { Quota } from './rate-limit.ts';

/** Tiers: which plan includes which, and how often each may be asked for. Source: api.md 5. */

type Plans = Readonly<Record<PlanId, Plan>>;

/** The tier that a call is admitted to; null where its price has none, and for calls that cost nobody anything. */
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

/** Refuses SQL of whoever it is not open to, on whatever lane, an estimate as well: for both the engine works on the caller's text. */
export function admitToSql(openTo: SqlCallers, { organization }: Pick<Caller, 'organization'>): void {
  if (openTo === 'everyone' || organization !== null) return;
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
export function isSoldByCall({ tier }: CallTerms): boolean {
  return tier === null || tier === SQL_TIER_SOLD.tier;
}

/** The tier's own window of whoever calls, beside the one that all requests share. */
export function tierQuota(tier: SqlTierId, { key, whose }: Quota): Quota {
  // The tier stands first: no organization can be named so that its window is another one's.
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
