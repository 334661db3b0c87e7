import { type Static, Type } from '@sinclair/typebox';
import { LANES } from '../../../core/domain/caller.ts';
import { KEY_RIGHTS } from '../../../core/domain/key-right.ts';
import { OWN_TABLE_QUOTA_TEXT, OWN_TABLE_QUOTAS } from '../../../core/domain/own-table.ts';
import { PLAN_IDS, SQL_SECONDS_PER_QU, type UnitBalance } from '../../../core/domain/plan.ts';
import { defineOperation } from '../define.ts';
import type { CallContext, Caller, Deployment, OperationDeps, PriceListEntry } from '../deps.ts';
import { PRICES, SQL_PRICE, SQL_TIERS } from '../prices.ts';
import { RoutePriceShape, rangeAnswer, routePrice } from '../route-price.ts';
import { AddressShape, ChainShape, CountShape, nowText, oneOf, orNull, TimeShape } from '../shapes.ts';
import { RIGHTS_IN_WORDS } from './key-params.ts';
import type { AccountDeps } from './own-account.ts';

/** Who the caller is and what everything costs. */

const OrganisationShape = Type.Object(
  { id: Type.String(), display_name: Type.String() },
  { title: 'Organisation' },
);
const BalanceShape = Type.Object(
  {
    available_qu: CountShape,
    low_balance_threshold_qu: CountShape,
    low_balance: Type.Boolean(),
  },
  { title: 'UnitBalance' },
);

const SqlTierShape = Type.Object(
  {
    tier: Type.String(),
    timeout_seconds: CountShape,
    max_qu: Type.Integer({
      minimum: 1,
      description: 'The maximum cost of a call, which is also held for it without `max_qu`.',
    }),
    requests_per_minute: CountShape,
    disk_bytes: Type.Integer({
      minimum: 0,
      description: 'The disk that a query may use for what does not fit into its memory.',
    }),
    allowed: Type.Boolean({ description: 'Whether this caller’s plan may buy the tier.' }),
    available: Type.Boolean({ description: 'Whether this deployment can serve the tier at all.' }),
    note: orNull(Type.String()),
  },
  { title: 'AccountSqlTier' },
);

const PaidInShape = Type.Object(
  { chain: ChainShape, asset: AddressShape, symbol: Type.String() },
  { title: 'AcceptedToken' },
);

const CallerKeyShape = Type.Object(
  {
    id: Type.String(),
    manages_keys: Type.Boolean({ description: 'Whether it may make, change and revoke keys.' }),
    is_lent: Type.Boolean({
      description:
        'Whether the console lends it to every visitor: then it has no history, no jobs and no saved queries.',
    }),
    rights: Type.Array(oneOf(KEY_RIGHTS, { title: 'KeyRight' }), {
      description: `What it may do beyond reading and spending. ${RIGHTS_IN_WORDS}`,
    }),
    operations: orNull(Type.Array(Type.String()), {
      description: 'Operations that it may call; null for all.',
    }),
    expires_at: orNull(TimeShape),
  },
  { title: 'CallerKey' },
);

const TIERS = ['anonymous', 'trial', 'oauth', ...PLAN_IDS] as const;
type Tier = (typeof TIERS)[number];

const NO_CREDENTIAL_NOTE =
  'No credential was sent, so there is no balance to show. This is not a zero balance.';
const UNKNOWN_KEY_NOTE =
  'The key that was sent does not resolve to an account, so its balance cannot be shown. This is not a zero balance.';
const TRIAL_NOTE =
  'A trial key holds no balance by design: it opens every route that takes any key, and metered calls are paid one by one. This is not a zero balance.';
const NO_ORGANIZATION_NOTE =
  'The token that was sent names no organization that is known here, so there is no balance to show. This is not a zero balance.';
const UNREADABLE_ORGANIZATION_NOTE =
  'The key is valid, but the row of its organization could not be read, so its balance cannot be shown. This is not a zero balance: nothing was spent.';

export const getAccount = defineOperation({
  id: 'getAccount',
  wire: {
    path: '/account',
    params: {},
    output: Type.Object({
      authenticated: Type.Boolean(),
      key_present: Type.Boolean(),
      key_recognised: orNull(Type.Boolean()),
      tier: oneOf(TIERS, { title: 'AccountTier' }),
      plan: orNull(Type.String()),
      lane: oneOf(LANES, { title: 'Lane' }),
      organisation: orNull(OrganisationShape),
      key: orNull(CallerKeyShape, {
        description: 'The key that was sent; null for none, and for a bearer token.',
      }),
      balance: orNull(BalanceShape),
      balance_note: Type.Optional(
        Type.String({ description: 'Present only when balance is null: which nothing it is.' }),
      ),
      metered_routes: Type.Array(RoutePriceShape),
      paid_in: Type.Array(PaidInShape, {
        description: 'The tokens in which single calls are sold over x402; empty where none are.',
      }),
      sql_tiers: Type.Array(SqlTierShape, {
        description: `One QU per started ${SQL_SECONDS_PER_QU} seconds, at least one. \`max_qu\` of the body buys less than the tier's maximum.`,
      }),
      own_tables: orNull(Type.Object({ tables_max: CountShape, bytes_max: CountShape }), {
        description: `What the tables of the organization may have together (\`PUT /v0/tables/{name}\`): ${OWN_TABLE_QUOTA_TEXT}.`,
      }),
      top_up_url: Type.String(),
      as_of: TimeShape,
      summary: Type.String(),
    }),
    fails: ['upstream_unavailable'],
    sharedFields: ['metered_routes', 'sql_tiers'],
  },
  words: {
    summary: 'Who the caller is, which lane applies and what each route costs',
    description:
      'Needs no key and costs nothing. A caller without a key gets the full price list; an unknown key gets an answer with `key_recognised: false`. `tier` is the plan of the organization behind a key; while the organization of a key cannot be read, the key has the lowest plan.',
    tool: 'Who you are, which tools your key may call, and what each call costs. For calls refused for their key, plan or units.',
    example: {
      authenticated: false,
      key_present: false,
      key_recognised: null,
      tier: 'anonymous',
      plan: null,
      lane: 'x402',
      organisation: null,
      key: null,
      balance: null,
      balance_note: NO_CREDENTIAL_NOTE,
      metered_routes: [
        { operation: 'listFlows', method: 'GET', path: '/flows', qu: 0, x402_usd: 0.001, range: null },
        { operation: 'getGraph', method: 'GET', path: '/graph', qu: 1, x402_usd: 0.005, range: null },
        {
          operation: 'runSql',
          method: 'POST',
          path: '/sql',
          qu: 1,
          x402_usd: 0.03,
          range: rangeAnswer(SQL_PRICE),
        },
        {
          operation: 'mintTrialKey',
          method: 'GET',
          path: '/test/x402',
          qu: null,
          x402_usd: 0.01,
          range: null,
        },
      ],
      paid_in: [
        {
          chain: 'eip155:8453',
          asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
          symbol: 'USDC',
        },
        {
          chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
          asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
          symbol: 'USDC',
        },
      ],
      sql_tiers: [
        {
          tier: 'standard',
          timeout_seconds: 15,
          max_qu: 3,
          requests_per_minute: 30,
          disk_bytes: 4_294_967_296,
          allowed: true,
          available: true,
          note: null,
        },
      ],
      own_tables: null,
      top_up_url: 'https://index.example/plans',
      as_of: '2026-11-20T09:15:04Z',
      summary: 'Lane x402: no key was sent, so priced routes are paid for call by call over x402.',
    },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { acceptsUnknownKey: true },
  run: async (_input, deps: AccountDeps, context) => {
    const { caller, lane } = context;
    const { organization } = caller;
    const units = organization === null ? null : await deps.accounts.balance(organization.id);
    return {
      authenticated: caller.keyRecognised === true,
      key_present: caller.keyPresent,
      key_recognised: caller.keyRecognised,
      tier: tierOf(caller),
      plan: organization?.plan ?? null,
      lane,
      organisation:
        organization === null ? null : { id: organization.id, display_name: organization.displayName },
      key: keyPart(caller),
      ...balancePart(caller, units, deps.deployment),
      metered_routes: meteredRoutes(deps.deployment.priceList),
      paid_in: deps.deployment.paidIn.map(({ chain, token: { address: asset, symbol } }) => ({
        chain,
        asset,
        symbol,
      })),
      sql_tiers: sqlTiers(deps, context),
      own_tables: tableQuota(caller),
      top_up_url: topUpUrl(deps.deployment.publicUrl, caller),
      as_of: nowText(deps.clock.nowMs()),
      summary: summaryOf(deps.deployment, context),
    };
  },
});

/** The plan of an organization that cannot be read is unknown: promise no more than the lowest. */
function tierOf({ standing, organization }: Caller): Tier {
  if (standing !== 'organization') return standing;
  return organization?.plan ?? PLAN_IDS[0];
}

function tableQuota({ organization }: Caller) {
  if (organization === null) return null;
  const { tables, bytes } = OWN_TABLE_QUOTAS[organization.plan];
  return { tables_max: tables, bytes_max: bytes };
}

function keyPart({ key }: Caller): Static<typeof CallerKeyShape> | null {
  if (key == null) return null;
  const { id, managesKeys, isLent, rights, operations, expiresAtMs } = key;
  return {
    id,
    manages_keys: managesKeys,
    is_lent: isLent,
    rights: [...rights],
    operations: operations === null ? null : [...operations],
    expires_at: expiresAtMs === null ? null : nowText(expiresAtMs),
  };
}

function balancePart(caller: Caller, units: UnitBalance | null, { plans }: Pick<Deployment, 'plans'>) {
  const { organization } = caller;
  if (organization === null || units === null) return { balance: null, balance_note: nothingOf(caller) };
  const threshold = plans[organization.plan].lowBalanceQu;
  return {
    balance: {
      available_qu: units.balance,
      low_balance_threshold_qu: threshold,
      low_balance: units.balance <= threshold,
    },
  };
}

/** Why the balance is null. */
function nothingOf({ keyPresent, keyRecognised, standing, organization }: Caller): string {
  if (!keyPresent) return NO_CREDENTIAL_NOTE;
  if (keyRecognised !== true) return UNKNOWN_KEY_NOTE;
  if (standing === 'trial') return TRIAL_NOTE;
  if (standing === 'oauth' && organization === null) return NO_ORGANIZATION_NOTE;
  return UNREADABLE_ORGANIZATION_NOTE;
}

type MeteredRoutes = Static<typeof RoutePriceShape>[];

/** The price list never changes while the process lives: its wire form is made once. */
const ROUTES_OF = new WeakMap<readonly PriceListEntry[], MeteredRoutes>();

function meteredRoutes(priceList: readonly PriceListEntry[]): MeteredRoutes {
  let routes = ROUTES_OF.get(priceList);
  if (routes === undefined) {
    routes = priceList.map(routePrice);
    ROUTES_OF.set(priceList, routes);
  }
  return routes;
}

type SqlTier = (typeof SQL_TIERS)[number];
type SqlTiers = Static<typeof SqlTierShape>[];

/** By which tiers the caller may buy, a bit for each: there are few such lists, and each is made once. */
const TIERS_OF = new Map<number, SqlTiers>();

function sqlTiers(
  { sql, deployment }: Pick<OperationDeps, 'deployment' | 'sql'>,
  context: CallContext,
): SqlTiers {
  if (context.caller.organization === null && sql.openTo() === 'organizations') return TIERS_CLOSED;
  let allowed = 0;
  for (const { tier } of SQL_TIERS) allowed = allowed * 2 + Number(mayBuy(tier, deployment, context));
  let tiers = TIERS_OF.get(allowed);
  if (tiers === undefined) {
    tiers = SQL_TIERS.map((tier) => sqlTier(tier, mayBuy(tier.tier, deployment, context)));
    TIERS_OF.set(allowed, tiers);
  }
  return tiers;
}

/** Without an organization the tier is bought call by call: x402 is offered for the first one only. */
function mayBuy(
  tier: SqlTier['tier'],
  { plans, sellsCalls }: Pick<Deployment, 'plans' | 'sellsCalls'>,
  { caller: { organization }, surface }: CallContext,
): boolean {
  if (organization !== null) return plans[organization.plan].sqlTiers.includes(tier);
  return tier === SQL_TIERS[0].tier && sellsCalls && surface === 'http';
}

function sqlTier({ tier, timeoutSeconds, maxQu, requestsPerMinute, diskBytes }: SqlTier, allowed: boolean) {
  return {
    tier,
    timeout_seconds: timeoutSeconds,
    max_qu: maxQu,
    requests_per_minute: requestsPerMinute,
    disk_bytes: diskBytes,
    allowed,
    available: true,
    note: allowed ? null : 'Not allowed: the tier needs an organization whose plan includes it.',
  };
}

/** For callers without an organization, where SQL is for organizations only. */
const TIERS_CLOSED: SqlTiers = SQL_TIERS.map((tier) => ({
  ...sqlTier(tier, false),
  note: 'Not allowed: SQL is for organizations only in this deployment.',
}));

function topUpUrl(publicUrl: string, { organization }: Caller): string {
  const page = `${publicUrl}/plans`;
  return organization === null ? page : `${page}?organization=${encodeURIComponent(organization.id)}#top-up`;
}

/** One sentence on what the lane means for this caller, in this deployment. */
function summaryOf({ sellsCalls }: Pick<Deployment, 'sellsCalls'>, { caller, lane }: CallContext): string {
  switch (lane) {
    case 'credit':
      return 'Lane credit: metered routes draw Query Units from the organization; routes that take any key cost none.';
    case 'invalid_key':
      return 'Lane invalid_key: the key that was sent is not known here, is revoked or has expired; other routes refuse it, so send none or a valid one.';
    case 'no_account':
      return 'Lane no_account: metered tools need the key of an organization, because no call can be paid for over x402 on this surface.';
    case 'upgrade_required':
      return 'Lane upgrade_required: the plan of the organization does not include the metered tools.';
    case 'x402':
      return x402Summary(caller, sellsCalls);
  }
}

function x402Summary({ keyPresent }: Caller, sellsCalls: boolean): string {
  if (!sellsCalls)
    return keyPresent
      ? 'Lane x402: the key has no organization, and this deployment does not sell single calls, so metered routes need the key of an organization.'
      : 'Lane x402: no key was sent, and this deployment does not sell single calls, so priced routes need a key.';
  return keyPresent
    ? 'Lane x402: the key opens every route that takes any key; metered routes are paid for call by call over x402.'
    : 'Lane x402: no key was sent, so priced routes are paid for call by call over x402.';
}
