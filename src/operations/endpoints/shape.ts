import { type Static, Type } from '@sinclair/typebox';
import { observedFrom } from '../../../clickhouse/tables/endpoints.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import { PLAUSIBLE_PRICE_MAX_USD, UNOBSERVED_REASONS } from '../../../core/domain/unobserved.ts';
import { UNREAD_CODES, UNREAD_REASONS } from '../../../core/domain/unread-items.ts';
import { CountShape, oneOf, orNull, TimeShape, timeText, timeTextOrNull, UsdShape } from '../shapes.ts';
import type {
  EndpointCalls,
  EndpointClaimant,
  EndpointOfferRow,
  EndpointRow,
  ObservedPayments,
} from './read.ts';
import type { ConfiguredSourceState, EndpointSourceState } from './sources.ts';
import { isSourceStale } from './sources.ts';

/** A row of the endpoint directory. Source: the x402 specification, discovery. */

const NullableTime = orNull(Type.String({ format: 'date-time' }));
const NullableText = orNull(Type.String());
const PriceShape = orNull(
  Type.Number({ description: 'Dollars, rounded up to a millionth; null when it is not known.' }),
);

const UnobservedShape = orNull(
  Type.String({
    title: 'UnobservedReason',
    description: `Why no payment can be observed; null where one can. ${Object.entries(UNOBSERVED_REASONS)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
      .join(' ')}`,
  }),
);

const AcceptShape = Type.Object(
  {
    scheme: Type.String(),
    network: Type.String({ description: 'As published: a version 1 name or CAIP-2.' }),
    chain: orNull(
      Type.String({ description: 'CAIP-2 of the chain; null for a network that is unknown here.' }),
    ),
    asset: Type.String(),
    amount: orNull(
      Type.String({
        description:
          'Atomic units of the asset, a ceiling where the scheme is `upto`; null when it is not published.',
      }),
    ),
    price_usd: PriceShape,
    pay_to: orNull(Type.String(), {
      description:
        'Null where the offer names no payee: one of the Machine Payments Protocol says it in its 402.',
    }),
    source: Type.String({ description: 'Who lists it, an entry of `meta.sources`.' }),
    max_timeout_seconds: {
      ...CountShape,
      description: 'Seconds for which the offer is valid; 0 when it is not published.',
    },
    settlement_count_30d: orNull(CountShape, {
      description:
        'Payments observed on the terms of this offer, counted as in `observed`; null where none can be observed.',
    }),
    unobserved_reason: UnobservedShape,
  },
  { title: 'EndpointOffer' },
);

const PAYMENT_FIELDS = {
  settlement_count_30d: CountShape,
  unique_payers_30d: {
    ...CountShape,
    description: 'Exact up to some hundreds, above within about 2 percent.',
  },
  settled_usd_30d: UsdShape,
  last_settled_at: NullableTime,
  counted_at: {
    ...NullableTime,
    description:
      'When the payments were counted, which is earlier than `meta.as_of`: every few minutes. Null before the first count.',
  },
};

const ObservedShape = Type.Object(
  {
    ...PAYMENT_FIELDS,
    since: {
      ...TimeShape,
      description:
        'The later of: when anyone first listed the resource on these terms, and the start of the 30 days.',
    },
    resources_on_same_terms: {
      ...CountShape,
      description:
        'Other resources of the same origin with this pay_to, asset and amount. Payments do not say which of them they were for, so each shows all.',
    },
  },
  {
    title: 'ObservedActivity',
    description:
      'Payments that fit an offer of the resource: to its pay_to, on its chain, in its asset, of exactly its amount (at most its amount where the scheme signs a ceiling), since anyone first listed it, today and the 29 UTC days before; summed over the offers, and where the resource is contested over those to `pay_to` alone. A payer who paid at two addresses counts at each. Only settlements graded proven or probable; self-payments do not count. What fits offers of several origins counts for the one that was listed first.',
  },
);

const PayeeObservedShape = Type.Object(PAYMENT_FIELDS, {
  title: 'PayeeActivity',
  description:
    'What the pay_to address was paid on that chain for anything, at any price, in the same time and by the same grades. It is not evidence for this resource: anyone can list any address. Nothing is ranked by it.',
});

const ClaimantShape = Type.Object(
  {
    pay_to: Type.String(),
    published_by_domain: Type.Boolean({
      description: 'Whether /.well-known/x402 of the resource’s own origin says so.',
    }),
    settlement_count_30d: {
      ...CountShape,
      description: 'Of the most paid of its offers for this resource.',
    },
    listed_since: TimeShape,
    networks: Type.Array(Type.String()),
    sources: Type.Array(Type.String(), { description: 'Who lists it, entries of `meta.sources`.' }),
  },
  { title: 'EndpointClaimant' },
);

export const EndpointShape = Type.Object(
  {
    resource: Type.String({ description: 'URL of the resource.' }),
    method: Type.String({ description: 'HTTP method; GET where the listing does not say.' }),
    service_name: NullableText,
    description: NullableText,
    mime_type: NullableText,
    accepts: Type.Array(AcceptShape, { description: 'Ways to pay, cheapest first.' }),
    price_usd: PriceShape,
    price_implausible: Type.Boolean({
      description: `Whether price_usd is above ${PLAUSIBLE_PRICE_MAX_USD} dollars for a call: most likely the listing mistakes the units of its amount.`,
    }),
    pay_to: orNull(Type.String(), {
      description:
        'Null where no offer names a payee. Of the headline offer, as are `network` and `price_usd`: the one that the domain itself publishes, else the one that most payers paid, else of a contested resource the one listed first, else the cheapest.',
    }),
    network: Type.String(),
    published_by_domain: Type.Boolean({
      description: 'Whether /.well-known/x402 of the resource’s own origin publishes the headline offer.',
    }),
    contested: Type.Boolean({
      description:
        'Whether listings of this resource, under any method, name different addresses to be paid on the same kind of network, and the domain does not publish all of them.',
    }),
    claimants: Type.Array(ClaimantShape, {
      description:
        'Every address that a listing of this resource names, published ones first, then the most paid.',
    }),
    tags: Type.Array(Type.String()),
    capabilities: Type.Array(Type.String(), {
      description: 'Slugs of `/capabilities`, by a documented rule.',
    }),
    last_updated: orNull(Type.String({ format: 'date-time' }), {
      description: 'As the listing says; null when it does not.',
    }),
    observed: orNull(ObservedShape, {
      description: 'Null where no payment for any of its offers can be observed: see `unobserved_reason`.',
    }),
    unobserved_reason: UnobservedShape,
    payee_observed: PayeeObservedShape,
    shared_pay_to: Type.Boolean({
      description: 'Whether other listed resources are paid at `pay_to` too, at whatever price.',
    }),
    stale: Type.Boolean({
      description: 'Whether no source that lists it has answered well of late: it may be outdated.',
    }),
    call: orNull(
      Type.Object(
        {},
        {
          title: 'EndpointCall',
          additionalProperties: true,
          description:
            'What its listing says of a call, as x402 discovery writes it: `input`, `output` and the JSON `schema` of both, at most 6,000 characters. Untrusted. Null where no listing says it, and unless `resource` is given.',
        },
      ),
    ),
  },
  { title: 'Endpoint' },
);

export const EndpointSourceShape = Type.Object(
  {
    source: Type.String(),
    kind: oneOf(['bazaar', 'well_known', 'file']),
    host: orNull(Type.String({ description: 'Null for the catalogue file.' })),
    offers: { ...CountShape, description: 'Offers that its last reading saw.' },
    tried_at: TimeShape,
    good_at: orNull(Type.String({ format: 'date-time' }), {
      description: 'Its last reading to the end; null without one.',
    }),
    problem: orNull(Type.String({ description: 'Why the last reading failed; null when it was good.' })),
    not_read: Type.Array(
      Type.Object(
        { reason: oneOf(UNREAD_CODES), items: CountShape, meaning: Type.String() },
        { title: 'UnreadItems' },
      ),
      { description: 'Items of the last reading that are no offer, by reason.' },
    ),
    stale: Type.Boolean(),
  },
  { title: 'EndpointSource' },
);

export function endpointAnswer(
  row: EndpointRow,
  {
    isStale,
    nowMs,
    calls,
  }: {
    readonly isStale: (source: string) => boolean;
    readonly nowMs: number;
    /** By method. */
    readonly calls: EndpointCalls;
  },
): Static<typeof EndpointShape> {
  return {
    resource: row.resource,
    method: row.method,
    service_name: textOrNull(row.serviceName),
    description: textOrNull(row.description),
    mime_type: textOrNull(row.mimeType),
    accepts: row.offers.map(acceptAnswer),
    price_usd: priceAnswer(row.priceUsdMicros),
    price_implausible: (priceAnswer(row.priceUsdMicros) ?? 0) > PLAUSIBLE_PRICE_MAX_USD,
    pay_to: textOrNull(row.payTo),
    network: row.network,
    published_by_domain: row.isPublished,
    contested: row.isContested,
    claimants: row.claimants.map(claimantAnswer),
    tags: [...row.tags],
    capabilities: [...row.capabilities],
    last_updated: timeTextOrNull(row.lastUpdated),
    observed:
      row.unobserved === null
        ? {
            ...paymentsAnswer(row.observed, row),
            since: timeText(Math.max(row.observed.since, observedFrom(Math.floor(nowMs / 1_000)))),
            resources_on_same_terms: row.sameTerms,
          }
        : null,
    unobserved_reason: row.unobserved,
    payee_observed: paymentsAnswer(row.payeeObserved, row),
    shared_pay_to: row.isPayToShared,
    stale: row.sources.every(isStale),
    call: calls.get(row.method) ?? null,
  };
}

function acceptAnswer(offer: EndpointOfferRow): Static<typeof AcceptShape> {
  return {
    scheme: offer.scheme,
    network: offer.network,
    chain: textOrNull(offer.chain),
    asset: offer.asset,
    amount: offer.amount,
    price_usd: priceAnswer(offer.priceUsdMicros),
    pay_to: textOrNull(offer.payTo),
    source: offer.source,
    max_timeout_seconds: offer.maxTimeoutSeconds,
    settlement_count_30d: offer.settlementCount,
    unobserved_reason: offer.unobserved,
  };
}

function paymentsAnswer(
  observed: ObservedPayments,
  { countedAt }: Pick<EndpointRow, 'countedAt'>,
): Static<typeof PayeeObservedShape> {
  return {
    settlement_count_30d: observed.settlementCount,
    unique_payers_30d: observed.uniquePayers,
    settled_usd_30d: usdNumber(observed.settledUsdMicros),
    last_settled_at: timeTextOrNull(observed.lastSettledAt),
    counted_at: timeTextOrNull(countedAt),
  };
}

function claimantAnswer(claimant: EndpointClaimant): Static<typeof ClaimantShape> {
  return {
    pay_to: claimant.payTo,
    published_by_domain: claimant.isPublished,
    settlement_count_30d: claimant.settlementCount,
    listed_since: timeText(claimant.listedAt),
    networks: [...claimant.networks],
    sources: [...claimant.sources],
  };
}

export function sourceAnswer(
  state: ConfiguredSourceState,
  nowMs: number,
): Static<typeof EndpointSourceShape> {
  return {
    source: state.source,
    kind: state.kind,
    host: textOrNull(state.host),
    offers: state.items,
    tried_at: timeText(state.triedAt),
    good_at: timeTextOrNull(state.goodAt),
    problem: textOrNull(state.problem),
    not_read: state.unread.map(({ reason, items }) => ({ reason, items, meaning: UNREAD_REASONS[reason] })),
    stale: isSourceStale(state, nowMs),
  };
}

/** Whether a source may be outdated; one that is not known any more is. */
export function staleness(
  states: readonly EndpointSourceState[],
  nowMs: number,
): (source: string) => boolean {
  const fresh = new Set(states.filter((state) => !isSourceStale(state, nowMs)).map(({ source }) => source));
  return (source) => !fresh.has(source);
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}

function priceAnswer(micros: bigint | null): number | null {
  return micros === null ? null : usdNumber(micros);
}

export const ENDPOINT_EXAMPLE: Static<typeof EndpointShape> = {
  resource: 'https://weather.example/v1/forecast',
  method: 'GET',
  service_name: 'Weather by the call',
  description: 'Hourly forecast for a place, seven days ahead.',
  mime_type: 'application/json',
  accepts: [
    {
      scheme: 'exact',
      network: 'base',
      chain: 'eip155:8453',
      asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      amount: '10000',
      price_usd: 0.01,
      pay_to: '0x4020615294c913f045dc10f0a5cdebd86c280001',
      source: 'bazaar:coinbase',
      max_timeout_seconds: 60,
      settlement_count_30d: 18_204,
      unobserved_reason: null,
    },
  ],
  price_usd: 0.01,
  price_implausible: false,
  pay_to: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  network: 'base',
  published_by_domain: true,
  contested: false,
  claimants: [
    {
      pay_to: '0x4020615294c913f045dc10f0a5cdebd86c280001',
      published_by_domain: true,
      settlement_count_30d: 18_204,
      listed_since: '2026-08-02T11:20:00Z',
      networks: ['base'],
      sources: ['bazaar:coinbase', 'well_known:https://weather.example'],
    },
  ],
  tags: ['weather'],
  capabilities: ['weather'],
  last_updated: '2026-11-19T06:40:12Z',
  observed: {
    settlement_count_30d: 18_204,
    unique_payers_30d: 311,
    settled_usd_30d: 182.04,
    last_settled_at: '2026-11-20T09:14:57Z',
    counted_at: '2026-11-20T09:15:02Z',
    since: '2026-10-22T00:00:00Z',
    resources_on_same_terms: 0,
  },
  unobserved_reason: null,
  payee_observed: {
    settlement_count_30d: 20_911,
    unique_payers_30d: 342,
    settled_usd_30d: 317.4,
    last_settled_at: '2026-11-20T09:14:57Z',
    counted_at: '2026-11-20T09:15:02Z',
  },
  shared_pay_to: true,
  stale: false,
  call: {
    input: {
      type: 'http',
      method: 'GET',
      queryParams: { place: { type: 'string', required: true, description: 'A town.' } },
    },
    output: { type: 'json' },
  },
};
