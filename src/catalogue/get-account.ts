import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../domain/amount.ts';
import { SQL_SECONDS_PER_QU } from '../domain/query-unit.ts';
import type { Caller, PriceListEntry } from './operation.ts';
import { defineOperation } from './operation.ts';
import { PRICES, SQL_TIERS } from './prices.ts';
import { CountShape, nowText, nullable, TimeShape } from './shapes.ts';

/** Who the caller is and what everything costs. Source: read-api.md 2.1, 2.2, 4.1. */

const OrganisationShape = Type.Object({ id: Type.String(), display_name: Type.String() });
const BalanceShape = Type.Object({
  available_qu: CountShape,
  low_balance_threshold_qu: CountShape,
  low_balance: Type.Boolean(),
});

const MeteredRouteShape = Type.Object({
  operation: Type.String(),
  method: Type.String(),
  path: Type.String(),
  qu: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 0,
    description: 'Query Units on the credit lane; null where units buy nothing.',
  }),
  x402_usd: Type.Number({ minimum: 0, description: 'Dollars on the x402 lane.' }),
});

const SqlTierShape = Type.Object({
  tier: Type.String(),
  timeout_seconds: CountShape,
  max_qu: Type.Integer({ minimum: 1, description: 'Held for the call, and the most it can cost.' }),
  requests_per_minute: CountShape,
  allowed: Type.Boolean({ description: 'Whether this caller’s plan may buy the tier.' }),
  available: Type.Boolean({ description: 'Whether this deployment can serve the tier at all.' }),
  note: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
});

const LANES = ['credit', 'x402', 'invalid_key', 'no_account', 'upgrade_required'] as const;
const TIERS = ['anonymous', 'trial', 'oauth', 'free', 'pro', 'enterprise'] as const;

const NO_CREDENTIAL_NOTE =
  'No credential was sent, so there is no balance to show. This is not a zero balance.';
const UNKNOWN_KEY_NOTE =
  'The key that was sent does not resolve to an account, so its balance cannot be shown. This is not a zero balance.';

export const getAccount = defineOperation({
  id: 'getAccount',
  method: 'GET',
  path: '/account',
  summary: 'Who the caller is, which lane applies, and what every route costs',
  description:
    'Needs no key and costs nothing. A caller without a key gets the full price list; an unknown key is answered too, with `key_recognised: false`.',
  price: PRICES.free,
  params: {},
  output: Type.Object({
    authenticated: Type.Boolean(),
    key_present: Type.Boolean(),
    key_recognised: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }),
    tier: Type.Unsafe<(typeof TIERS)[number]>({ type: 'string', enum: [...TIERS] }),
    plan: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    lane: Type.Unsafe<(typeof LANES)[number]>({ type: 'string', enum: [...LANES] }),
    organisation: Type.Unsafe<Static<typeof OrganisationShape> | null>(nullable(OrganisationShape)),
    balance: Type.Unsafe<Static<typeof BalanceShape> | null>(nullable(BalanceShape)),
    balance_note: Type.Optional(
      Type.String({ description: 'Present only when balance is null: which nothing it is.' }),
    ),
    metered_routes: Type.Array(MeteredRouteShape),
    sql_tiers: Type.Array(SqlTierShape, {
      description: `One QU per started ${SQL_SECONDS_PER_QU} seconds, at least one.`,
    }),
    top_up_url: Type.String(),
    as_of: TimeShape,
    summary: Type.String(),
  }),
  fails: ['upstream_unavailable'],
  paging: 'none',
  caching: 'no-store',
  acceptsUnknownKey: true,
  example: {
    authenticated: false,
    key_present: false,
    key_recognised: null,
    tier: 'anonymous',
    plan: null,
    lane: 'x402',
    organisation: null,
    balance: null,
    balance_note: NO_CREDENTIAL_NOTE,
    metered_routes: [{ operation: 'listFlows', method: 'GET', path: '/flows', qu: 0, x402_usd: 0.001 }],
    sql_tiers: [
      {
        tier: 'standard',
        timeout_seconds: 15,
        max_qu: 3,
        requests_per_minute: 30,
        allowed: true,
        available: false,
        note: 'This deployment does not serve SQL yet.',
      },
    ],
    top_up_url: 'https://index.example/plans',
    as_of: '2026-11-20T09:15:04Z',
    summary: 'No key was sent: metered routes are paid per call over x402.',
  },
  run: async (_input, { clock, priceList, publicUrl }, { caller }) => ({
    authenticated: false,
    key_present: caller.keyPresent,
    key_recognised: caller.keyRecognised,
    tier: 'anonymous' as const,
    plan: null,
    lane: laneOf(caller),
    organisation: null,
    balance: null,
    balance_note: caller.keyPresent ? UNKNOWN_KEY_NOTE : NO_CREDENTIAL_NOTE,
    metered_routes: priceList.map(meteredRoute),
    sql_tiers: SQL_TIERS.map(sqlTier),
    top_up_url: `${publicUrl}/plans`,
    as_of: nowText(clock.nowMs()),
    summary: summaryOf(caller),
  }),
});

function laneOf(caller: Caller): 'x402' | 'invalid_key' {
  return caller.keyPresent ? 'invalid_key' : 'x402';
}

function summaryOf(caller: Caller): string {
  return caller.keyPresent
    ? 'The key that was sent is not known here, is revoked or has expired: other routes refuse it; send none or a valid one.'
    : 'No key was sent: metered routes are paid per call over x402. This deployment does not charge yet, so they are open.';
}

function meteredRoute({ id, method, path, price }: PriceListEntry) {
  return { operation: id, method, path, qu: price.qu, x402_usd: usdNumber(price.x402UsdMicros) };
}

/** A caller without a plan may buy the tier that x402 is offered for: the first (api.md 5). */
function sqlTier({ tier, timeoutSeconds, maxQu, requestsPerMinute }: (typeof SQL_TIERS)[number]) {
  const allowed = tier === 'standard';
  return {
    tier,
    timeout_seconds: timeoutSeconds,
    max_qu: maxQu,
    requests_per_minute: requestsPerMinute,
    allowed,
    available: false,
    note: allowed
      ? 'Not available: this deployment does not serve SQL yet.'
      : 'Not available: this deployment does not serve SQL yet. Not allowed: the tier needs an organization plan that includes it.',
  };
}
