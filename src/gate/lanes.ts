import type { Lane, Surface } from '../../core/domain/lane.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import type { Caller } from '../operations/define.ts';
import type { Price } from '../operations/prices.ts';

/**
 * Which way a call takes: one pure table of price class × caller × surface. Source: read-api.md 3, api.md 4, 6.
 */

/**
 * The lane that the caller would take on a metered route. A plan without any SQL tier excludes that route: on MCP, where nothing
 * can be paid for instead, that is `upgrade_required`.
 */
export function laneOf(
  { keyRecognised, organization }: Pick<Caller, 'keyRecognised' | 'organization'>,
  surface: Surface,
  plans: Readonly<Record<PlanId, Plan>>,
): Lane {
  if (keyRecognised === false) return 'invalid_key';
  if (organization === null) return surface === 'mcp' ? 'no_account' : 'x402';
  const isExcluded = plans[organization.plan].sqlTiers.length === 0;
  return surface === 'mcp' && isExcluded ? 'upgrade_required' : 'credit';
}

/** What must happen before and after the run. */
export type AccessDecision =
  | { readonly by: 'nothing' }
  | { readonly by: 'units'; readonly organizationId: string; readonly units: number }
  | { readonly by: 'payment' }
  | { readonly by: 'refusal'; readonly code: RefusalCode; readonly detail: string };

export type RefusalCode = 'payment_required' | 'api_key_required' | 'not_found';

export interface AccessRequest {
  readonly price: Pick<Price, 'class' | 'qu'>;
  readonly caller: Caller;
  readonly surface: Surface;
  /** What callers without a key get on `keyed` routes. */
  readonly anonymous: 'priced' | 'open';
  /** Whether this deployment sells single calls over x402. */
  readonly sellsCalls: boolean;
  /** Whether a payment came along. */
  readonly hasPayment: boolean;
  /** False for HEAD, which shows the price and never takes it. */
  readonly mayCharge: boolean;
}

/**
 * A payment goes before a key: who sends one wants to pay with it. Where it cannot be taken (a free route, a surface or a
 * deployment without the x402 lane, HEAD) it is left alone, never settled.
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
        : 'No organization with units stands behind this key. Pay for this call, or send the key of an organization.',
    };
  if (isAnonymous)
    return {
      by: 'refusal',
      code: 'api_key_required',
      detail: 'No key was sent, and single calls are not sold here.',
    };
  return {
    by: 'refusal',
    code: 'payment_required',
    detail: 'No organization with units stands behind this key, and single calls are not sold here.',
  };
}
