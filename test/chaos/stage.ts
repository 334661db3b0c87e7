import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedEngine, startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import type { Log } from '../../core/log.ts';
import { freePort } from '../../core/process/free-port.ts';
import { mintUsdc } from '../../demo/chain/deploy-usdc.ts';
import { mine, type Wallet, walletOf } from '../../demo/chain/sender.ts';
import { type Facilitator, startFacilitator } from '../../demo/facilitator.ts';
import { openRedisStore } from '../../src/accounts/redis/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { type RedisServer, startRedisServer } from '../kit/redis-server.ts';
import { startTruthWorld, type TruthWorld } from '../kit/truth-world.ts';
import { waitUntil } from '../kit/wait-until.ts';
import { forgetJobs } from './forget-jobs.ts';
import { type Forwarder, startForwarder } from './forwarder.ts';
import { type Host, makeLoopbackHost, makeNamespaceHost, sweepNamespaces, whyNoNamespaces } from './hosts.ts';
import { createMember, type Member, type Role, WAYS, type Way } from './member.ts';

/** Everything that takes part: a chain, a facilitator, an engine and a Redis on this machine, and the processes of the service on hosts around it. */
export interface Stage {
  readonly world: TruthWorld;
  readonly engine: EmbeddedEngine;
  readonly redis: RedisServer;
  readonly store: ControlStore;
  readonly members: readonly Member[];
  /** Why no cable can be pulled; null where they can. */
  readonly withoutCables: string | null;
  /** Where the logs of the processes are. */
  readonly directory: string;
  /** New wallets with money, without a wei for gas. Not while another process mines the chain. */
  payers(count: number): Promise<Wallet[]>;
  /** Takes from Redis whatever is a hint. */
  forgetJobs(): Promise<void>;
  /** Resolves when every API and Redis answer. */
  ready(): Promise<void>;
  stop(options: { readonly keepLogs: boolean }): Promise<void>;
}

export interface StageOptions {
  readonly seed: number;
  readonly counts: Readonly<Record<Role, number>>;
  readonly log: Log;
  /** Makes the program that the processes run, in a directory of its own; answers its `main.js`. */
  program(directory: string): string;
}

const ENGINE_MEGABYTES = 2_048;
/** The chain begins days ago, so that there are closed days to roll up, and comes to the present before anybody pays. */
const HISTORY_SECONDS = 3 * 86_400;
const HISTORY_BLOCKS = 36;
const RELAYER = walletOf('chaos relayer');
const MERCHANT = walletOf('chaos merchant').address;
const GAS_FUNDS = '0x21e19e0c9bab2400000';
const PAYER_ATOMS = 1_000_000n;
const REQUESTS_PER_MINUTE = 10_000_000;
const READY_TIMEOUT_MS = 180_000;

export async function startStage(options: StageOptions): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-chaos-'));
  const cleanups: (() => Promise<unknown> | unknown)[] = [];
  const owned = async <Part>(
    part: Promise<Part>,
    end: (part: Part) => Promise<unknown> | unknown,
  ): Promise<Part> => {
    const made = await part;
    cleanups.push(() => end(made));
    return made;
  };
  const stop = async ({ keepLogs }: { readonly keepLogs: boolean }): Promise<void> => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    if (!keepLogs) rmSync(directory, { recursive: true, force: true });
  };
  try {
    const main = options.program(join(directory, 'program'));
    const now = Math.floor(Date.now() / 1_000);
    const [world, engine, redis] = await Promise.all([
      owned(startTruthWorld(options.seed, now - HISTORY_SECONDS), (one) => one.stop()),
      owned(startEngine(directory, options.log), (one) => one.stop()),
      owned(startRedisServer(), (one) => one.stop()),
    ]);
    await growHistory(world, now);
    const facilitator = await owned(openFacilitator(world, options.log), (one) => one.stop());
    const store = await owned(
      Promise.resolve(openRedisStore({ url: redis.url, keyPrefix: KEY_PREFIX, log: options.log })),
      (one) => one.close(),
    );
    const withoutCables = whyNoNamespaces();
    if (withoutCables === null) sweepNamespaces();
    const members = await openMembers(
      { options, directory, main, world, engine, redis, facilitator, hasCables: withoutCables === null },
      owned,
    );
    for (const member of members) member.start(0);
    const ready = async (): Promise<void> => {
      await untilReady(members);
      await waitUntil('Redis answers us', () => isAnswering(store), READY_TIMEOUT_MS);
    };
    await ready();
    return {
      world,
      engine,
      redis,
      store,
      members,
      withoutCables,
      directory,
      async forgetJobs() {
        await forgetJobs(redis.url, KEY_PREFIX);
      },
      payers: (count) => fundPayers(world, count),
      ready,
      stop,
    };
  } catch (error) {
    await stop({ keepLogs: true });
    throw error;
  }
}

const KEY_PREFIX = 'chaos';

async function growHistory({ chain, grow }: TruthWorld, now: number): Promise<void> {
  const first = Number(
    (await chain.rpc.call<{ readonly timestamp: string }>('eth_getBlockByNumber', 'latest', false)).timestamp,
  );
  for (let block = 1; block <= HISTORY_BLOCKS; block++) {
    const at = first + Math.floor(((now - first) * block) / HISTORY_BLOCKS);
    await chain.rpc.call('evm_setNextBlockTimestamp', at);
    await grow(1);
  }
}

function startEngine(directory: string, log: Log): Promise<EmbeddedEngine> {
  return startEmbeddedEngine({
    dataDir: join(directory, 'engine'),
    database: `chaos_${randomBytes(4).toString('hex')}`,
    maxMemoryMegabytes: ENGINE_MEGABYTES,
    log,
  });
}

async function openFacilitator({ chain }: TruthWorld, log: Log): Promise<Facilitator> {
  await chain.rpc.call('anvil_setBalance', RELAYER.address, GAS_FUNDS);
  const { url: rpcUrl, chainId } = chain;
  return startFacilitator({ rpcUrl, chainId, privateKey: RELAYER.privateKey, builderCode: 'chaos_fac', log });
}

interface Surroundings {
  readonly options: StageOptions;
  readonly directory: string;
  readonly main: string;
  readonly world: TruthWorld;
  readonly engine: EmbeddedEngine;
  readonly redis: RedisServer;
  readonly facilitator: Facilitator;
  readonly hasCables: boolean;
}

type Owned = <Part>(part: Promise<Part>, end: (part: Part) => Promise<unknown> | unknown) => Promise<Part>;

async function openMembers(around: Surroundings, owned: Owned): Promise<Member[]> {
  const members: Member[] = [];
  for (const role of ['ingest', 'rollup', 'api'] as const) {
    for (let number = 1; number <= around.options.counts[role]; number++) {
      const index = members.length;
      const host = await owned(
        Promise.resolve(around.hasCables ? makeNamespaceHost(index) : makeLoopbackHost()),
        (one) => one.remove(),
      );
      const ways = await openWays(around, host, owned);
      const member = await openMember(around, { name: `${role}-${number}`, role, host, ways });
      members.push(await owned(Promise.resolve(member), (one) => one.kill()));
    }
  }
  return members;
}

async function openWays(
  { engine, redis, world, facilitator }: Surroundings,
  host: Host,
  owned: Owned,
): Promise<Record<Way, Forwarder>> {
  const targets: Record<Way, number> = {
    redis: redis.port,
    engine: Number(new URL(engine.access.url).port),
    chain: Number(new URL(world.chain.url).port),
    facilitator: Number(new URL(facilitator.url).port),
  };
  const ways = await Promise.all(
    WAYS.map(async (way) => {
      const forwarder = await owned(startForwarder(host.gateway, targets[way]), (one) => one.stop());
      return [way, forwarder] as const;
    }),
  );
  return Object.fromEntries(ways) as Record<Way, Forwarder>; // every way is there
}

async function openMember(
  { directory, main, world, engine }: Surroundings,
  made: Pick<Member, 'name' | 'role' | 'host' | 'ways'>,
): Promise<Member> {
  const { host, ways, role, name } = made;
  const port = await freePort();
  const { url, database, writer, reader, guest } = engine.access;
  const engineUrl = new URL(url);
  engineUrl.host = `${host.gateway}:${ways.engine.port}`;
  const dataDir = join(directory, name);
  mkdirSync(dataDir, { recursive: true });
  const plan = { requestsPerMinute: REQUESTS_PER_MINUTE };
  const config = {
    role,
    dataDir,
    logLevel: 'info',
    http: { host: host.address, port, publicUrl: PUBLIC_URL, requestsPerMinute: REQUESTS_PER_MINUTE },
    clickhouse: { url: engineUrl.href, database, writer, reader, guest },
    chains: [world.serviceChain(`http://${host.gateway}:${ways.chain.port}`)],
    catalogue: world.serviceCatalogue(),
    access: { anonymous: 'open' },
    plans: { free: { ...plan, monthlyGrantQu: 0 }, pro: plan, enterprise: plan },
    payment: {
      facilitatorUrl: `http://${host.gateway}:${ways.facilitator.port}`,
      accept: [{ chain: 'base-sepolia', payTo: MERCHANT }],
    },
    control: { redisUrl: `redis://${host.gateway}:${ways.redis.port}`, keyPrefix: KEY_PREFIX },
    cursorSecrets: ['chaos cursor secret that every API of the run knows'],
  };
  return createMember({ ...made, port, main, directory, config });
}

/** What payments are signed for, whichever API takes them. */
const PUBLIC_URL = 'http://chaos.example';

async function fundPayers({ chain }: TruthWorld, count: number): Promise<Wallet[]> {
  const wallets = Array.from({ length: count }, () =>
    walletOf(`chaos payer ${randomBytes(8).toString('hex')}`),
  );
  await mintUsdc(
    chain.sender,
    wallets.map(({ address: to }) => ({ to, amount: PAYER_ATOMS })),
  );
  await mine(chain.rpc);
  return wallets;
}

const LOOK_TIMEOUT_MS = 2_000;
/** A worker that meets what it cannot go on with ends, and is started again; one that ends at every start is broken. */
const ENDS_AT_START_MAX = 5;
const LOG_SHOWN_CHARS = 2_000;

const isAnswering = (store: ControlStore): Promise<boolean> =>
  store.ping().then(
    () => true,
    () => false, // on its way back
  );

async function untilReady(members: readonly Member[]): Promise<void> {
  const before = new Map(members.map((member) => [member, member.ends()]));
  const mustNotEnd = ({ name, ends, logFile }: Member, was: number): void => {
    if (ends() - was > ENDS_AT_START_MAX)
      throw new Error(`${name} does not start: ${readFileSync(logFile, 'utf8').slice(-LOG_SHOWN_CHARS)}`);
  };
  for (const { url, name } of members) {
    if (url === null) continue;
    await waitUntil(
      `${name} answers`,
      () => {
        for (const [member, was] of before) mustNotEnd(member, was);
        return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) }).then(
          ({ ok }) => ok,
          () => false, // not listening yet
        );
      },
      READY_TIMEOUT_MS,
    );
  }
}
