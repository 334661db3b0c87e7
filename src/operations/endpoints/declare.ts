import { Type } from '@sinclair/typebox';
import { isAddress, namespaceOfText, readAddress } from '../../../core/domain/account.ts';
import { readDollarLimit } from '../../../core/domain/plan.ts';
import { capabilityFilter, chainParam, limitParam, offsetParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { LIST_META_FIELDS, listMeta, META_EXAMPLE } from '../meta.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { NextOffsetShape } from '../shapes.ts';
import { type EndpointFilter, NO_CALLS, readEndpointCalls, readEndpoints } from './read.ts';
import {
  ENDPOINT_EXAMPLE,
  EndpointShape,
  EndpointSourceShape,
  endpointAnswer,
  sourceAnswer,
  staleness,
} from './shape.ts';
import { configuredOf, type EndpointDeps, isCatalogueStale } from './sources.ts';

/** Parameters of the endpoint directory. */

const QUERY_MAX_CHARS = 200;
const WORDS_MAX = 8;

/** Words in lower case. */
export const endpointQueryParam: Param<readonly string[]> = {
  in: 'query',
  description: `Words that must all occur in the URL, the name of the service, the description or a tag, in any case, also as parts of longer words. Up to ${WORDS_MAX} words, ${QUERY_MAX_CHARS} characters.`,
  toolText: 'Words, all in the URL, name, description or tags.',
  required: false,
  schema: Type.String({ maxLength: QUERY_MAX_CHARS }),
  example: 'weather',
  read: (raw, name) => {
    if (raw === undefined) return [];
    const words = typeof raw === 'string' ? raw.toLowerCase().split(/\s+/).filter(Boolean) : [];
    if (typeof raw !== 'string' || raw.length > QUERY_MAX_CHARS || words.length > WORDS_MAX)
      throw invalid(
        name,
        `${name} must be a text of at most ${QUERY_MAX_CHARS} characters and ${WORDS_MAX} words.`,
      );
    return words;
  },
};

/** A text of a closed alphabet, looked up as it is. */
function wordParam(
  description: string,
  shape: RegExp,
  what: string,
  example: string,
): Param<string | undefined> {
  return {
    in: 'query',
    description,
    required: false,
    schema: Type.String({ pattern: shape.source }),
    example,
    read: (raw, name) => {
      if (raw === undefined || (typeof raw === 'string' && shape.test(raw))) return raw;
      throw invalid(name, `${name} must be ${what}, not ${quoted(raw)}.`);
    },
  };
}

export const endpointCapabilityParam: Param<string | undefined> = capabilityFilter('endpoints');

export const endpointTagParam = wordParam(
  'Only endpoints with this tag, in any case.',
  /^[^\p{C}]{1,64}$/u,
  'a tag of at most 64 characters',
  'weather',
);

export const endpointNetworkParam: Param<string | undefined> = {
  ...wordParam(
    'Only endpoints with an offer on this network, as it is published: `base`, `eip155:8453`, `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp`. `chain` finds a chain under each of its names.',
    /^[A-Za-z0-9:_-]{1,100}$/u,
    'the name of a network',
    'base',
  ),
  toolText: 'Network as it is published, like base.',
};

export const payToParam: Param<string | undefined> = {
  in: 'query',
  description:
    'Only endpoints with an offer that is paid to this address, headline or not. EVM addresses in any case.',
  toolText: 'The address that is paid.',
  otherNames: { payee: {}, wallet: {}, address: {}, seller: {}, merchant: {} },
  required: false,
  schema: Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$' }),
  example: '0x4b690d38773522a360b59c42cfd2128d0049b675',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw !== 'string' || !/^[A-Za-z0-9._:-]{1,128}$/.test(raw))
      throw invalid(name, `${name} must be an address, not ${quoted(raw)}.`);
    if (namespaceOfText(raw) !== 'eip155') return raw;
    const address = readAddress(raw);
    if (isAddress(address)) return address;
    throw invalid(
      name,
      `${name} must be an address (0x and 40 hex digits, mixed case by EIP-55), not ${quoted(raw)}.`,
    );
  },
};

const RESOURCE_MAX_CHARS = 2_048;

export const resourceParam: Param<string | undefined> = {
  in: 'query',
  description: 'Only the endpoint with exactly this URL, under each of its methods.',
  toolText: 'This URL.',
  required: false,
  schema: Type.String({ maxLength: RESOURCE_MAX_CHARS }),
  example: 'https://weather.example/v1/forecast',
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    if (typeof raw === 'string' && raw !== '' && raw.length <= RESOURCE_MAX_CHARS) return raw;
    throw invalid(name, `${name} must be a URL of at most ${RESOURCE_MAX_CHARS} characters.`);
  },
};

export const maxPriceParam: Param<bigint | undefined> = {
  in: 'query',
  description:
    'Only endpoints whose headline offer (`price_usd`) costs at most so many dollars. Those without a known price are left out.',
  toolText: 'price_usd at most.',
  required: false,
  schema: Type.Number({ minimum: 0 }),
  example: 0.01,
  read: (raw, name) => {
    if (raw === undefined) return undefined;
    const micros = readDollarLimit(raw);
    if (micros === null)
      throw invalid(name, `${name} must be a number of dollars, 0 or more, not ${quoted(raw)}.`);
    return micros;
  },
};

export const listEndpoints = defineOperation({
  id: 'listEndpoints',
  wire: {
    path: '/endpoints',
    params: {
      limit: limitParam,
      offset: offsetParam,
      q: endpointQueryParam,
      capability: endpointCapabilityParam,
      tag: endpointTagParam,
      pay_to: payToParam,
      resource: resourceParam,
      chain: {
        ...chainParam,
        description:
          'Only endpoints with an offer on this chain, by CAIP-2 name. Default, and `all`: every network.',
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
    paging: 'offset',
  },
  words: {
    summary: 'Directory of paid services, most paid first, with observed payments of each offer',
    description:
      'Resources that facilitators (bazaar discovery), sellers (/.well-known/x402) and the catalogue file list, one row for each resource and HTTP method, by payments observed of its offers in the last 30 days, then by resource and method. `amount` is in atomic units of the asset, `price_usd` in dollars: the price that is signed where the asset is a known dollar token, else the price that the seller declares. Everything but `observed` and `payee_observed` is what listings say. `pay_to` and `price_usd` are those of one offer, `observed` is the sum of all; what cannot be observed is null, with `unobserved_reason`. Where listings disagree about who is to be paid, `contested` is true and `claimants` names them all, with those first that the resource’s own domain publishes. A source that cannot be read keeps what it listed; `meta.sources` says how each answered last, and the warning `endpoints_catalog_stale` that some of it may be outdated. Observed figures are recounted every few minutes.',
    tool: 'Services that can be called and paid for over x402: URL, price, payee, and the payments observed of that offer. Search by words, capability, payee or price. contested: listings disagree about who is paid. All but what was observed is what listings say.',
    example: {
      endpoints: [ENDPOINT_EXAMPLE],
      next_offset: 50,
      meta: {
        chain: META_EXAMPLE.chain,
        as_of: META_EXAMPLE.as_of,
        snapshot: null,
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
            not_read: [],
            stale: false,
          },
        ],
      },
    },
  },
  money: { price: PRICES.free },
  read: async (input, deps: EndpointDeps) => {
    const {
      reader,
      clock,
      deployment: { chains },
      index: { dataset, freshness },
      endpointSources,
    } = deps;
    const { limit, offset, chain } = input;
    const nowMs = clock.nowMs();
    const [rows, calls, states, statuses] = await Promise.all([
      // One more than the page tells whether there is another.
      readEndpoints(reader, filterOf(input), { limit: limit + 1, offset }),
      input.resource === undefined ? NO_CALLS : readEndpointCalls(reader, input.resource),
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
      endpoints: page.map((row) => endpointAnswer(row, { isStale, nowMs, calls })),
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
  readonly resource: string | undefined;
  readonly chain: EndpointFilter['chain'] | undefined;
  readonly network: string | undefined;
  readonly max_price_usd: bigint | undefined;
}

function filterOf(input: EndpointInput): EndpointFilter {
  const { q, pay_to: payTo, max_price_usd: maxPriceMicros, ...same } = input;
  const { capability, tag, resource, chain, network } = same;
  return { words: q, capability, tag, payTo, resource, chain, network, maxPriceMicros };
}
