import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { Address } from '../domain/account.ts';
import { USD_CURRENCY, USD_DECIMALS } from '../domain/amount.ts';
import { type Chain, namespaceOf, type TokenFacts } from '../domain/chains.ts';
import { knownChain } from '../domain/networks.ts';
import { DEFAULT_PLANS, type PLAN_IDS, type Plan, SQL_TIER_IDS, UNITS_MAX } from '../domain/plan.ts';
import { type ChainConfig, resolveAddress, unknownChain } from './chains.ts';

/** Configuration of access: plans, payment, bearer tokens, and the store of accounts. */

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
        'What we are paid in: `chain` (`base`, `solana`), our `payTo`, and `asset` (default: the chain’s first dollar token). The first is offered first. On Solana `payTo` needs a token account of the asset, and the facilitator pays the fees.',
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

/** Looks up what `payment.accept` names. Adds every fault to `problems`. */
export function resolvePayment(
  payment: Static<typeof PaymentSchema>,
  chains: readonly ChainConfig[],
  problems: string[],
): PaymentConfig {
  const { facilitatorUrl } = payment;
  if (facilitatorUrl !== null && !isHttpUrl(facilitatorUrl))
    problems.push('payment.facilitatorUrl: must be an http or https URL');
  if (facilitatorUrl !== null && hasCredentials(facilitatorUrl))
    problems.push(
      'payment.facilitatorUrl: takes no user and password; put a key into payment.facilitatorHeaders',
    );
  if (facilitatorUrl !== null && payment.accept.length === 0)
    problems.push('payment.accept: name at least one chain and payTo, or leave payment.facilitatorUrl out');
  const accept = payment.accept.map((entry, index) =>
    resolveAccept(entry, `payment.accept.${index}`, chains, problems),
  );
  const seen = new Set<string>();
  for (const { chain, token } of accept) {
    const what = `${chain} ${token.address}`;
    if (seen.has(what)) problems.push(`payment.accept: ${what} is named twice`);
    seen.add(what);
  }
  return { ...payment, accept };
}

function resolveAccept(
  entry: Static<typeof PaymentSchema>['accept'][number],
  at: string,
  chains: readonly ChainConfig[],
  problems: string[],
): AcceptedPayment {
  const configured = chains.find(({ chain, facts }) => chain === entry.chain || facts.slug === entry.chain);
  const facts =
    configured?.facts ?? knownChain(entry.chain) ?? unknownChain(entry.chain, `${at}.chain`, problems);
  const { chain } = facts;
  const tokens = (configured?.tokens ?? facts.tokens).filter(isPayable);
  const token = resolveToken({ ...entry, chain }, tokens, `${at}.asset`, problems);
  // Prices are in dollars: the token must be worth one dollar and have enough decimals for the smallest price.
  if (token.decimals < USD_DECIMALS)
    problems.push(`${at}.asset: a token with fewer than ${USD_DECIMALS} decimals cannot carry our prices`);
  return {
    chain,
    slug: facts.slug,
    token,
    payTo: resolveAddress(entry.payTo, `${at}.payTo`, problems, namespaceOf(chain)),
    rpcUrls: configured?.rpcUrls ?? [],
  };
}

/** Whether prices can be asked in a token: dollars, which payers transfer by EIP-3009 with a known domain, or by a program of Solana. */
export function isPayable({ paidBy, currency, domain }: TokenFacts): boolean {
  if (currency !== USD_CURRENCY || paidBy === 'permit2') return false;
  return paidBy !== 'eip3009' || domain !== null;
}

function resolveToken(
  { asset, chain }: { readonly asset?: string; readonly chain: Chain },
  tokens: readonly TokenFacts[],
  at: string,
  problems: string[],
): TokenFacts {
  const wanted = asset === undefined ? undefined : resolveAddress(asset, at, problems, namespaceOf(chain));
  const token = wanted === undefined ? tokens[0] : tokens.find(({ address }) => address === wanted);
  if (token !== undefined) return token;
  problems.push(
    `${at}: not a dollar token that we know on that chain and that payers sign for (EIP-3009, or a mint of Solana); known: ${tokens.map((one) => one.address).join(', ')}`,
  );
  return tokens[0] as TokenFacts; // never used: the problem above ends the load
}

/** Over plain http, anyone on the network path could replace the key set and sign valid tokens. */
export function checkOauth({ issuer, jwksUrl }: Static<typeof OauthSchema>, problems: string[]): void {
  for (const [key, url] of Object.entries({ issuer, jwksUrl })) {
    if (url === null || isTrustworthyUrl(url)) continue;
    problems.push(`oauth.${key}: must be an https URL (http only on loopback)`);
  }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** `fetch` rejects a URL with credentials at every call, which would look like a facilitator that is down. */
export function hasCredentials(text: string): boolean {
  return URL.canParse(text) && (new URL(text).username !== '' || new URL(text).password !== '');
}

/** https, or http that does not leave this machine. */
export function isTrustworthyUrl(text: string): boolean {
  if (!isHttpUrl(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

/** One accepted payment method: a token on a chain, paid to an address of ours. */
export interface AcceptedPayment {
  readonly chain: Chain;
  /** The chain's short name, which the v1 wire uses where it knows it. */
  readonly slug: string;
  readonly token: TokenFacts;
  readonly payTo: Address;
  /** RPC URLs of the chain, when it is configured; may hold credentials: never logged. */
  readonly rpcUrls: readonly string[];
}

export interface PaymentConfig extends Omit<Static<typeof PaymentSchema>, 'accept'> {
  readonly accept: readonly AcceptedPayment[];
}
