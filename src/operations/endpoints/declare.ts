import { Type } from '@sinclair/typebox';
import { defineOperation } from '../define.ts';
import { LIST_META_FIELDS, listMeta, META_EXAMPLE } from '../meta.ts';
import { chainParam, limitParam, offsetParam } from '../params.ts';
import { PRICES } from '../prices.ts';
import { NextOffsetShape } from '../shapes.ts';
import {
  endpointCapabilityParam,
  endpointNetworkParam,
  endpointQueryParam,
  endpointTagParam,
  maxPriceParam,
  payToParam,
} from './params.ts';
import { type EndpointFilter, readEndpoints } from './read.ts';
import {
  ENDPOINT_EXAMPLE,
  EndpointShape,
  EndpointSourceShape,
  endpointAnswer,
  sourceAnswer,
  staleness,
} from './shape.ts';
import { configuredOf, isCatalogueStale } from './sources.ts';

export const listEndpoints = defineOperation({
  id: 'listEndpoints',
  method: 'GET',
  path: '/endpoints',
  summary: 'Priced directory of services, most paid first, with what was observed of each offer',
  description:
    'Resources that facilitators (bazaar discovery), sellers (/.well-known/x402) and the catalogue file list, one row for each resource and HTTP method, by payments observed of its headline offer in the last 30 days, then by resource and method. `amount` is in atomic units of the asset, `price_usd` in dollars: the price that is signed where the asset is a known dollar token, else the price that the seller declares. Everything but `observed` and `payee_observed` is what listings say. `pay_to`, `price_usd` and `observed` are those of one offer; where listings disagree about who is to be paid, `contested` is true and `claimants` names them all, with those first that the resource’s own domain publishes. A source that cannot be read keeps what it listed; `meta.sources` says how each answered last, and the warning `endpoints_catalog_stale` that some of it may be outdated. What was observed is counted anew every few minutes.',
  toolText:
    'Services that can be called and paid for over x402: URL, price, payee, and the payments observed of that offer. Search by words, capability, payee or price. contested: listings disagree about who is paid. All but what was observed is what listings say.',
  price: PRICES.free,
  params: {
    limit: limitParam,
    offset: offsetParam,
    q: endpointQueryParam,
    capability: endpointCapabilityParam,
    tag: endpointTagParam,
    pay_to: payToParam,
    chain: {
      ...chainParam,
      description: 'Only endpoints with an offer on this chain, by CAIP-2 name. Default: every network.',
      toolText: 'Only offers on this chain, such as eip155:8453.',
    },
    network: endpointNetworkParam,
    max_price_usd: maxPriceParam,
  },
  output: Type.Object({
    endpoints: Type.Array(EndpointShape),
    next_offset: NextOffsetShape,
    meta: Type.Object(
      {
        ...LIST_META_FIELDS,
        sources: Type.Array(EndpointSourceShape, {
          description: 'Who lists endpoints, and how each answered last.',
        }),
      },
      { title: 'EndpointListMeta' },
    ),
  }),
  fails: ['invalid_parameter', 'upstream_unavailable'],
  paging: 'offset',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: {
    endpoints: [ENDPOINT_EXAMPLE],
    next_offset: 50,
    meta: {
      chain: META_EXAMPLE.chain,
      as_of: META_EXAMPLE.as_of,
      freshness: META_EXAMPLE.freshness,
      sources: [
        {
          source: 'bazaar:coinbase',
          kind: 'bazaar',
          host: 'facilitator.example',
          offers: 14_810,
          tried_at: '2026-11-20T08:31:40Z',
          good_at: '2026-11-20T08:31:40Z',
          problem: null,
          stale: false,
        },
      ],
    },
  },
  run: async (input, deps) => {
    const {
      reader,
      clock,
      deployment: { chains },
      index: { dataset, freshness },
      catalogues: { endpointSources },
    } = deps;
    const { limit, offset, chain } = input;
    const nowMs = clock.nowMs();
    const [rows, states, statuses] = await Promise.all([
      // One more than the page tells whether there is another.
      readEndpoints(reader, filterOf(input), { limit: limit + 1, offset }),
      endpointSources.states(),
      freshness.statuses(),
    ]);
    const page = rows.slice(0, limit);
    const isStale = staleness(states, nowMs);
    const meta = await listMeta({ chain, chains, statuses, nowMs }, page, () => dataset.endpoints(chain));
    const warnings = [
      ...(meta.warnings ?? []),
      ...(isCatalogueStale(states, nowMs) ? (['endpoints_catalog_stale'] as const) : []),
    ];
    return {
      endpoints: page.map((row) => endpointAnswer(row, isStale)),
      next_offset: rows.length > limit ? offset + limit : null,
      meta: {
        ...meta,
        sources: configuredOf(states).map((state) => sourceAnswer(state, nowMs)),
        ...(warnings.length > 0 ? { warnings } : {}),
      },
    };
  },
});

interface EndpointInput {
  readonly q: readonly string[];
  readonly capability: EndpointFilter['capability'] | undefined;
  readonly tag: string | undefined;
  readonly pay_to: string | undefined;
  readonly chain: EndpointFilter['chain'] | undefined;
  readonly network: string | undefined;
  readonly max_price_usd: bigint | undefined;
}

function filterOf(input: EndpointInput): EndpointFilter {
  const { q, capability, tag, pay_to: payTo, chain, network, max_price_usd: maxPriceMicros } = input;
  return { words: q, capability, tag, payTo, chain, network, maxPriceMicros };
}
