import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../domain/amount.ts';
import type { EndpointSourceState } from '../reads/endpoint-sources.ts';
import { isSourceStale } from '../reads/endpoint-sources.ts';
import type { EndpointOfferRow, EndpointRow } from '../reads/endpoints.ts';
import { CountShape, TimeShape, timeText, timeTextOrNull, UsdShape } from './shapes.ts';

/** A row of the endpoint directory. Source: api.md 3, protocol.md 1.10. */

const NullableTime = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const NullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const PriceShape = Type.Unsafe<number | null>({
  type: ['number', 'null'],
  description: 'Dollars, rounded up to a millionth; null when it is not known.',
});

const AcceptShape = Type.Object(
  {
    scheme: Type.String(),
    network: Type.String({ description: 'As published: a version 1 name or CAIP-2.' }),
    chain: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'CAIP-2 of the EVM chain; null for another network.',
    }),
    asset: Type.String(),
    amount: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'Atomic units of the asset, a ceiling where the scheme is `upto`; null when it is not published.',
    }),
    price_usd: PriceShape,
    pay_to: Type.String(),
    source: Type.String({ description: 'Who lists it, an entry of `meta.sources`.' }),
    max_timeout_seconds: {
      ...CountShape,
      description: 'How long the offer stands; 0 when it is not published.',
    },
  },
  { title: 'EndpointOffer' },
);

const ObservedShape = Type.Object(
  {
    settlement_count_30d: CountShape,
    unique_payers_30d: {
      ...CountShape,
      description: 'Exact up to some hundreds, above within about 2 percent.',
    },
    settled_usd_30d: UsdShape,
    last_settled_at: NullableTime,
  },
  {
    title: 'ObservedActivity',
    description:
      'What the pay_to addresses of the offers were paid on the chains that this deployment indexes, today and the 29 UTC days before. It belongs to the addresses: with `shared_pay_to` other resources took part of it. Of several addresses the figures are added up.',
  },
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
    pay_to: Type.String({ description: 'Of the cheapest offer, as is `network`.' }),
    network: Type.String(),
    tags: Type.Array(Type.String()),
    capabilities: Type.Array(Type.String(), {
      description: 'Slugs of `/capabilities`, by a documented rule.',
    }),
    last_updated: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'As the listing says; null when it does not.',
    }),
    observed: ObservedShape,
    shared_pay_to: Type.Boolean({
      description:
        'Whether one of its pay_to addresses is paid for other resources too: `observed` then belongs to the address.',
    }),
    stale: Type.Boolean({
      description: 'Whether nobody who lists it has answered well of late: it may be outdated.',
    }),
  },
  { title: 'Endpoint' },
);

export const EndpointSourceShape = Type.Object(
  {
    source: Type.String(),
    kind: Type.Unsafe<EndpointSourceState['kind']>({
      type: 'string',
      enum: ['bazaar', 'well_known', 'file'],
    }),
    host: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Null for the catalogue file.',
    }),
    offers: { ...CountShape, description: 'Offers that its last reading saw.' },
    tried_at: TimeShape,
    good_at: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'Its last reading to the end; null without one.',
    }),
    problem: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why the last reading failed; null when it was good.',
    }),
    stale: Type.Boolean(),
  },
  { title: 'EndpointSource' },
);

export function endpointAnswer(
  row: EndpointRow,
  isStale: (source: string) => boolean,
): Static<typeof EndpointShape> {
  return {
    resource: row.resource,
    method: row.method,
    service_name: textOrNull(row.serviceName),
    description: textOrNull(row.description),
    mime_type: textOrNull(row.mimeType),
    accepts: row.offers.map(acceptAnswer),
    price_usd: priceAnswer(row.priceUsdMicros),
    pay_to: row.payTo,
    network: row.network,
    tags: [...row.tags],
    capabilities: [...row.capabilities],
    last_updated: timeTextOrNull(row.lastUpdated),
    observed: {
      settlement_count_30d: row.settlementCount,
      unique_payers_30d: row.uniquePayers,
      settled_usd_30d: usdNumber(row.settledUsdMicros),
      last_settled_at: timeTextOrNull(row.lastSettledAt),
    },
    shared_pay_to: row.isPayToShared,
    stale: row.sources.every(isStale),
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
    pay_to: offer.payTo,
    source: offer.source,
    max_timeout_seconds: offer.maxTimeoutSeconds,
  };
}

export function sourceAnswer(state: EndpointSourceState, nowMs: number): Static<typeof EndpointSourceShape> {
  return {
    source: state.source,
    kind: state.kind,
    host: textOrNull(state.host),
    offers: state.items,
    tried_at: timeText(state.triedAt),
    good_at: timeTextOrNull(state.goodAt),
    problem: textOrNull(state.problem),
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
    },
  ],
  price_usd: 0.01,
  pay_to: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  network: 'base',
  tags: ['weather'],
  capabilities: ['weather'],
  last_updated: '2026-11-19T06:40:12Z',
  observed: {
    settlement_count_30d: 18_204,
    unique_payers_30d: 311,
    settled_usd_30d: 182.04,
    last_settled_at: '2026-11-20T09:14:57Z',
  },
  shared_pay_to: false,
  stale: false,
};
