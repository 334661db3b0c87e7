import type { ApiKey } from '../core/domain/caller.ts';
import { X402_BUILDER_CODE, X402_FACILITATOR_ID } from './actors.ts';
import { DEMO_PLAN } from './api-client.ts';
import { sampleOnlyChains, samplePayees } from './history/sample-world.ts';
import { type Identities, identitiesConfig } from './identities/identities.ts';
import type { ServiceConfig } from './service.ts';
import { GOODS } from './shops/goods.ts';
import type { Shops } from './shops/shops.ts';
import type { SolanaMarket } from './solana/market.ts';
import type { World } from './world.ts';

const CHAIN = 'base-sepolia';
/** The demo walks everything it serves; the usual limits would only slow that down. */
const REQUESTS_PER_MINUTE = 1_000_000;
/** At least this many windows, so that a small history is still read in parallel pieces. */
const BACKFILL_WINDOWS = 16;
const WINDOW_BLOCKS_MIN = 5;
const POLL_MS = 200;
/** Of Solana, as often as windows at the tip are made elsewhere: each is a dozen small inserts, which the engine of the demo has to merge. */
const SOLANA_POLL_MS = 1_000;
/** No limit, in effect: the nodes are on this machine. */
const NODE_REQUESTS_PER_SECOND = 100_000;

export interface Ports {
  readonly port: number;
  readonly facilitatorPort: number;
  /** For tools that speak to a ClickHouse server. */
  readonly clickhousePort: number;
}

export function facilitatorUrl({ facilitatorPort }: Ports): string {
  return `http://127.0.0.1:${facilitatorPort}`;
}

interface WorldParts {
  readonly world: World;
  readonly market: SolanaMarket;
  readonly identities: Identities;
  readonly shops: Shops;
  /** Where the service asks the EVM chain. */
  readonly nodeUrl: string;
  /** Blocks that it has to catch up, or nearly. */
  readonly historyBlocks: number;
  readonly dataDir: string;
  readonly visitorKey: ApiKey;
  readonly history: boolean;
}

/**
 * The configuration an operator would write for this world: two chains, their facilitators, their merchants' resources, and
 * calls for sale.
 */
export function serviceConfig(
  options: Ports & WorldParts,
): ServiceConfig & { readonly http: { readonly port: number } } {
  const { world, market, identities } = options;
  return {
    dataDir: options.dataDir,
    http: { port: options.port, requestsPerMinute: REQUESTS_PER_MINUTE },
    clickhouseInterface: { port: options.clickhousePort },
    plans: { [DEMO_PLAN]: { requestsPerMinute: REQUESTS_PER_MINUTE } },
    access: { anonymous: 'priced' },
    // Visitors of the console can ask at once; saving takes the key that the demo prints.
    console: { visitorKey: options.visitorKey },
    payment: {
      facilitatorUrl: facilitatorUrl(options),
      accept: [
        { chain: CHAIN, payTo: world.cast.api.address },
        { chain: market.network, payTo: market.api },
      ],
    },
    chains: [
      {
        chain: CHAIN,
        rpcUrls: [options.nodeUrl],
        startBlock: world.firstBlock,
        // No explorer shows what happens on a chain of this machine.
        explorerUrl: false,
        ...(options.history ? { sampleDataTo: world.firstBlock - 1 } : {}),
        pollMs: POLL_MS,
        logWindowMax: Math.max(WINDOW_BLOCKS_MIN, Math.ceil(options.historyBlocks / BACKFILL_WINDOWS)),
        requestsPerSecond: NODE_REQUESTS_PER_SECOND,
      },
      {
        chain: market.network,
        rpcUrls: [market.node.url],
        startBlock: market.node.ledger.firstAvailable,
        explorerUrl: false,
        pollMs: SOLANA_POLL_MS,
        requestsPerSecond: NODE_REQUESTS_PER_SECOND,
      },
      ...(options.history ? sampleOnlyChains(world.cast) : []),
    ],
    catalogue: catalogueOf(options),
    identities: identitiesConfig(identities.host),
  };
}

/** Of every relayer in the catalogue: before anything happens here. */
const FIRST_SEEN = '2025-01-01';

function catalogueOf({
  world: { cast },
  market,
  identities: { bazaars, host },
  shops,
  history,
  port,
}: Pick<WorldParts, 'world' | 'market' | 'identities' | 'shops' | 'history'> & Ports): NonNullable<
  ServiceConfig['catalogue']
> {
  const chain = CHAIN;
  const api = { ...cast.api, resource: `http://127.0.0.1:${port}/v0` };
  const sellers = cast.shops.map((shop) => ({
    ...shop,
    resource: `${shops.origin}${GOODS[shop.name].path}`,
  }));
  return {
    publicFacilitators: false,
    facilitators: cast.facilitators.map(({ id, name, relayers }) => ({
      id,
      name,
      ...(bazaars[id] === undefined ? {} : { url: bazaars[id] }),
      builderCodes: id === X402_FACILITATOR_ID ? [X402_BUILDER_CODE] : [],
      relayers: [
        ...relayers.map((address) => ({ chain, address, firstSeen: FIRST_SEEN })),
        ...market.feePayers
          .filter(({ facilitator }) => facilitator === id)
          .map(({ address }) => ({ chain: market.network, address, firstSeen: FIRST_SEEN })),
      ],
    })),
    payees: [
      ...[...cast.merchants.filter(({ catalogued }) => catalogued), api, ...sellers].map(
        ({ address, name, resource }) => ({ chain, address, name, resource }),
      ),
      ...[...market.sellers.filter(({ catalogued }) => catalogued), { ...api, address: market.api }].map(
        ({ address, name, resource }) => ({ chain: market.network, address, name, resource }),
      ),
      ...(history ? samplePayees(cast) : []),
    ],
    wellKnown: [host.origin, shops.origin],
  };
}
