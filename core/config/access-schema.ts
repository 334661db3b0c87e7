import { type TSchema, Type } from '@sinclair/typebox';
import { DEFAULT_PLANS, type PLAN_IDS, type Plan, SQL_TIER_IDS } from '../domain/plan.ts';
import { UNITS_MAX } from '../domain/query-unit.ts';

/** Who may call, what it costs them, and where that is remembered. */

const closed = { additionalProperties: false };

function planSchema(plan: Plan) {
  return Type.Object(
    {
      requestsPerMinute: Type.Integer({
        default: plan.requestsPerMinute,
        minimum: 1,
        description: 'Requests a minute of all its keys together.',
      }),
      sqlTiers: Type.Array(Type.Union(SQL_TIER_IDS.map((tier) => Type.Literal(tier))), {
        default: [...plan.sqlTiers],
        description: 'SQL tiers it may buy.',
      }),
      lowBalanceQu: Type.Integer({
        default: plan.lowBalanceQu,
        minimum: 0,
        maximum: UNITS_MAX,
        description: 'At or below this, `/account` says `low_balance`.',
      }),
      monthlyGrantQu: Type.Integer({
        default: plan.monthlyGrantQu,
        minimum: 0,
        maximum: UNITS_MAX,
        description: 'Units granted at the beginning of every UTC month.',
      }),
    },
    { default: {}, ...closed },
  );
}

export const PlansSchema = Type.Object(
  {
    free: planSchema(DEFAULT_PLANS.free),
    pro: planSchema(DEFAULT_PLANS.pro),
    enterprise: planSchema(DEFAULT_PLANS.enterprise),
  } satisfies Record<(typeof PLAN_IDS)[number], TSchema>,
  { default: {}, ...closed },
);

export const AccessSchema = Type.Object(
  {
    anonymous: Type.Union([Type.Literal('priced'), Type.Literal('open')], {
      default: 'priced',
      description:
        'Callers without a key on routes that take any key: `priced` sells them single calls over x402 (or refuses them where `payment` is not configured), `open` serves them.',
    }),
    trialKeyDays: Type.Integer({
      default: 30,
      minimum: 1,
      maximum: 3650,
      description: 'How long a key bought at /test/x402 is valid.',
    }),
    trialRequestsPerMinute: Type.Integer({
      default: 60,
      minimum: 1,
      description: 'Requests a minute of one trial key.',
    }),
  },
  { default: {}, ...closed },
);

export const ControlSchema = Type.Object(
  {
    redisUrl: Type.Union([Type.String(), Type.Null()], {
      default: null,
      description:
        'Redis that holds organizations, keys, units and payments, shared by several API processes. Null: a SQLite file in the data directory.',
    }),
    keyPrefix: Type.String({
      default: 'six',
      pattern: '^[a-z0-9_-]{1,32}$',
      description: 'Prefix of every Redis key.',
    }),
  },
  { default: {}, ...closed },
);

const AcceptSchema = Type.Object(
  { chain: Type.String(), payTo: Type.String(), asset: Type.Optional(Type.String()) },
  closed,
);

export const PaymentSchema = Type.Object(
  {
    facilitatorUrl: Type.Union([Type.String(), Type.Null()], {
      default: null,
      description: 'The x402 facilitator that verifies and settles payments to us. Null: no x402 lane.',
    }),
    facilitatorHeaders: Type.Record(Type.String(), Type.String(), {
      default: {},
      description: 'Headers sent to it, such as its API key.',
    }),
    accept: Type.Array(AcceptSchema, {
      default: [],
      description:
        'What we are paid in: `chain`, our `payTo`, and `asset` (default: the chain’s first token). The first is offered first.',
    }),
    offerSeconds: Type.Integer({
      default: 60,
      minimum: 10,
      maximum: 600,
      description: '`maxTimeoutSeconds` of an offer.',
    }),
    settleTimeoutSeconds: Type.Integer({
      default: 30,
      minimum: 1,
      maximum: 120,
      description: 'How long a settlement may take before its outcome counts as unknown.',
    }),
    confirmOnChain: Type.Boolean({
      default: true,
      description:
        'Look a settlement up on the chain’s RPC before serving it, where the chain is configured; also settles unknown outcomes.',
    }),
  },
  { default: {}, ...closed },
);

export const OauthSchema = Type.Object(
  {
    issuer: Type.Union([Type.String(), Type.Null()], {
      default: null,
      description: 'Issuer of accepted bearer tokens (JWT). Null: none are accepted.',
    }),
    audience: Type.String({
      default: 'settlement-index',
      description: '`aud` of a token, where that is not a URL of this deployment.',
    }),
    jwksUrl: Type.Union([Type.String(), Type.Null()], {
      default: null,
      description: 'Its key set. Null: read from the issuer’s metadata.',
    }),
    organizationClaim: Type.String({
      default: 'organization',
      description: 'The claim that names the organization whose units a token spends.',
    }),
  },
  { default: {}, ...closed },
);
