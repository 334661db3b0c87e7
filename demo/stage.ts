import type { ApiKey } from '../core/domain/caller.ts';
import { type Chain, chainOf } from '../core/domain/chains.ts';
import type { Log } from '../core/log.ts';
import { freePort } from '../core/process/free-port.ts';
import { castOf, X402_BUILDER_CODE } from './actors.ts';
import { type ApiClient, createApiClient, openAccount, untilFirstServed } from './api-client.ts';
import { openLatePort } from './chain/late-port.ts';
import { startFacilitator } from './facilitator.ts';
import { type History, startHistory } from './history/history.ts';
import { FIRST_LIVE_BLOCK } from './history/sample-world.ts';
import { startCardHost } from './identities/card-host.ts';
import {
  createIdentities,
  type Identities,
  playAfter,
  playBefore,
  STORY_BLOCKS,
} from './identities/identities.ts';
import { configFileIn, type SpawnedService, spawnService } from './service.ts';
import { facilitatorUrl, type Ports, serviceConfig } from './service-config.ts';
import { createShopper, type Errand, errandsOf, type Shopper } from './shopper.ts';
import { openShops, type Shops } from './shops/shops.ts';
import type { TillOptions } from './shops/till.ts';
import { createSolanaLive, type SolanaLive } from './solana/live.ts';
import { type SolanaMarket, solanaAccounts, startSolanaMarket } from './solana/market.ts';
import { makeTraffic, type Traffic } from './traffic.ts';
import { startWorld, type World } from './world.ts';

export interface StageOptions {
  readonly seed: number;
  readonly port: number;
  /** Settlements that exist before the service starts, so that it has something to backfill. */
  readonly historySettlements: number;
  /** Whether 120 days of sample data lie below the chain's blocks. */
  readonly history: boolean;
  readonly directory: string;
  readonly log: Log;
  /** Gets the rows of sample data written so far. */
  readonly sampleProgress: (rows: number, total: number) => void;
  /** Called while history is written. */
  readonly progress: (settlementsDone: number) => void;
  /** Prints what happens, one sentence each. */
  readonly say: (sentence: string) => void;
  /** Stops everything that was started, last first; filled as things start, so that a failure half-way leaves nothing behind. */
  readonly cleanups: (() => Promise<void>)[];
}

/** Everything that runs: the chain with its actors, the service over it, the facilitator that it is paid through. */
export interface Stage {
  readonly log: Log;
  readonly world: World;
  /** The EVM chain. */
  readonly chain: Chain;
  readonly traffic: Traffic;
  readonly identities: Identities;
  readonly solana: SolanaLive;
  readonly facilitatorUrl: string;
  /** Where tools for ClickHouse connect. */
  readonly clickhouseUrl: string;
  readonly shops: Shops;
  readonly shoppers: readonly Shopper[];
  /** What they buy. */
  readonly errands: readonly Errand[];
  readonly service: SpawnedService;
  /** Of an organization that was made before the service started. */
  readonly apiKey: ApiKey;
  readonly client: ApiClient;
  /** Unix seconds of the chain's first block. */
  readonly genesisTime: number;
  /** The sample data, under way; null where there is none. */
  readonly sample: History | null;
  /** The newest block of history. */
  readonly historyHead: number;
  /** Since the process started. */
  readonly firstServedMs: number;
  /** When the service said that it is ready, on the same clock. */
  readonly readyMs: number;
}

const SETTLEMENTS_PER_BLOCK = 10;
const HISTORY_BLOCKS_MIN = 8;
const HISTORY_BLOCKS_MAX = 2_000;
const BLOCK_SECONDS = 2;
/** History ends this long ago, so that reorgs at the tip, which push timestamps, never reach the future. */
const QUIET_SECONDS = 120;

/**
 * Builds the stage: the chain, then its history, while the service makes its tables. The service reads no block before the history is
 * whole, and then has to catch up.
 */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { say, cleanups, seed, log, directory } = options;
  const blocks = historyBlocks(options.historySettlements);
  const pastSeconds = QUIET_SECONDS + (blocks + STORY_BLOCKS) * BLOCK_SECONDS;
  const genesisTime = Math.floor(Date.now() / 1_000) - pastSeconds;
  const dataDir = `${directory}/index`;
  const opening = openAccount(dataDir, log);
  const marketOpening = owned(cleanups, startSolanaMarket({ ...castOf(seed), seed, genesisTime }));
  const world = await owned(
    cleanups,
    startWorld({ seed, genesisTime, genesisNumber: options.history ? FIRST_LIVE_BLOCK : 0 }),
  );
  say(`anvil runs at ${world.chain.url} with Circle's USDC, Multicall3, Permit2 and the ERC-8004 registries`);
  const lateNode = await owned(cleanups, openLatePort(world.chain.url));
  const host = await owned(cleanups, startCardHost());
  const accounts = await solanaAccounts(seed, world.cast.merchants);
  const identities = createIdentities(world.cast, { seed, host, accounts });
  const market = await marketOpening;
  say(`a local Solana runs at ${market.node.url}, with sellers of both chains`);
  await market.history(options.historySettlements, blocks);
  const { apiKey, visitorKey } = await opening;
  const ports = await choosePorts(options);
  const shops = await owned(cleanups, openShops(world.cast, shopsOptions({ world, ports, directory, log })));
  const parts = { ...options, ...ports, world, market, identities, shops, dataDir, visitorKey };
  const late = { nodeUrl: lateNode.url, historyBlocks: blocks + STORY_BLOCKS };
  const config = serviceConfig({ ...parts, ...late });
  const sample = openSample({ ...options, genesisTime, port: ports.port });
  const starting = owned(cleanups, spawnService({ config, directory }));
  const traffic = await Promise.race([
    writeHistory({ ...options, world, identities, blocks }),
    starting.then(({ failed }) => failed),
  ]);
  const historyHead = traffic.head.number;
  lateNode.open();
  const boot = { ...facilitatorBoot(world, market), port: ports.facilitatorPort, log };
  const facilitating = owned(cleanups, startFacilitator(boot));
  const [service, facilitator] = await Promise.all([starting, facilitating]);
  const readyMs = performance.now();
  const client = createApiClient(service.url, apiKey);
  const chain = chainOf(world.chainId);
  const firstServedMs = await untilFirstServed(client, service, chain);
  market.run();
  const [merchant] = world.cast.merchants;
  if (merchant === undefined) throw new Error('the cast has no merchant');
  return {
    log,
    world,
    chain,
    traffic,
    identities,
    solana: createSolanaLive(market, [() => market.buyCall(service.url), () => market.buy(facilitator.url)]),
    facilitatorUrl: facilitator.url,
    clickhouseUrl: `http://127.0.0.1:${ports.clickhousePort}`,
    shops,
    shoppers: world.cast.x402Agents.map(createShopper),
    errands: errandsOf(merchant.address, shops.examples),
    service,
    apiKey,
    client,
    genesisTime,
    sample,
    historyHead,
    firstServedMs,
    readyMs,
  };
}

/** Registers the clean-up of something before it has started: a stop in between waits for the start, then ends it. */
function owned<Started extends { stop(): Promise<void> }>(
  cleanups: StageOptions['cleanups'],
  starting: Promise<Started>,
): Promise<Started> {
  cleanups.push(() =>
    starting.then(
      (started) => started.stop(),
      () => undefined, // it never started; the caller that awaits `starting` gets the reason
    ),
  );
  return starting;
}

function openSample(
  options: Pick<StageOptions, 'history' | 'seed' | 'cleanups' | 'directory' | 'sampleProgress'> & {
    readonly genesisTime: number;
    readonly port: number;
  },
): History | null {
  if (!options.history) return null;
  const sample = startHistory(
    {
      seed: options.seed,
      endTime: options.genesisTime - 1,
      configFile: configFileIn(options.directory),
      serviceUrl: `http://127.0.0.1:${options.port}`,
    },
    options.sampleProgress,
  );
  options.cleanups.push(() => sample.stop());
  return sample;
}

/** Agents register before the first payment, and are rated for payments. */
async function writeHistory(
  stage: Pick<StageOptions, 'seed' | 'progress' | 'historySettlements'> & {
    readonly world: World;
    readonly identities: Identities;
    readonly blocks: number;
  },
): Promise<Traffic> {
  const { seed, world, identities, progress, blocks, historySettlements: settlements } = stage;
  const traffic = await makeTraffic(world, { seed });
  const play = { world, traffic, secondsApart: BLOCK_SECONDS };
  await playBefore(identities.story, play);
  await traffic.history({ settlements, blocks, secondsApart: BLOCK_SECONDS, progress });
  await playAfter(identities.story, play);
  return traffic;
}

function historyBlocks(settlements: number): number {
  const even = Math.ceil(settlements / SETTLEMENTS_PER_BLOCK);
  return Math.min(HISTORY_BLOCKS_MAX, Math.max(HISTORY_BLOCKS_MIN, even));
}

function facilitatorBoot({ chain, chainId, cast }: World, { facilitator: solana }: SolanaMarket) {
  const { privateKey } = cast.x402Relayer;
  return { rpcUrl: chain.url, chainId, privateKey, builderCode: X402_BUILDER_CODE, solana };
}

function shopsOptions({
  world,
  ports,
  directory,
  log,
}: Pick<StageOptions, 'directory' | 'log'> & { readonly world: World; readonly ports: Ports }): TillOptions {
  return {
    rpcUrl: world.chain.url,
    facilitatorUrl: facilitatorUrl(ports),
    dataDir: `${directory}/shops`,
    log,
  };
}

/** Where tools expect a ClickHouse server. */
const CLICKHOUSE_PORT = 8_123;

/** The facilitator's port is named to the service before the facilitator listens there. */
async function choosePorts({ port: wanted, say }: StageOptions): Promise<Ports> {
  const port = await freePort(wanted);
  if (wanted !== 0 && port !== wanted) say(`port ${wanted} is taken; the API listens on ${port} instead`);
  const [facilitatorPort, clickhousePort] = [
    await freePort(wanted === 0 ? 0 : port + 1),
    await freePort(wanted === 0 ? 0 : CLICKHOUSE_PORT),
  ];
  return { port, facilitatorPort, clickhousePort };
}
