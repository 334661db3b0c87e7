import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedEngine, startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import { randomUser, randomUsers } from '../../clickhouse/embedded/users.ts';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import type { Log } from '../../core/log.ts';
import { freePort } from '../../core/process/free-port.ts';

/** Real engines that know each other, all on loopback. */
export interface TestCluster {
  /** Through the first node. */
  readonly access: EngineAccess;
  /** Of each shard in turn, the ports of its replicas. */
  readonly nodes: readonly EmbeddedEngine[];
  /** Passwords, for the watch that none is written anywhere. */
  readonly secrets: readonly string[];
  /** Kills a node, counted from 0 in the order of `nodes`, which stays down until the result is called. */
  kill(node: number): Promise<() => Promise<void>>;
  /** Stops all of them and removes their data. */
  close(): Promise<void>;
}

const MEMORY_MEGABYTES = 1024;
const NAME = 'test_cluster';

export async function startCluster(options: {
  readonly shards: number;
  /** Of each shard. They do not share their rows: for that the embedded engine has no port. */
  readonly replicas?: number;
  readonly database: string;
  /** How nodes ask each other: as a user of theirs (default), or as the user of the query. */
  readonly asQueryUser?: boolean;
  readonly queryLog?: boolean;
  readonly log: Log;
}): Promise<TestCluster> {
  const { database, replicas = 1, queryLog = false, asQueryUser = false, log } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'settlement-index-cluster-'));
  const users = randomUsers();
  const user = randomUser('node');
  const tcpPorts = await differentPorts(options.shards * replicas);
  const shards = inGroups(tcpPorts, replicas);
  const start = (tcpPort: number): Promise<EmbeddedEngine> =>
    startEmbeddedEngine({
      dataDir: join(dataDir, String(tcpPort)),
      database,
      maxMemoryMegabytes: MEMORY_MEGABYTES,
      readerDatabases: [`${database}*`],
      queryLog,
      node: { name: NAME, shards, tcpPort, user, users, asWhoeverAsked: asQueryUser },
      log,
    });
  const started = await Promise.allSettled(tcpPorts.map(start));
  const nodes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
    await rm(dataDir, { recursive: true, force: true });
  };
  const failed = started.find((one) => one.status === 'rejected');
  const [first] = nodes;
  if (failed !== undefined || first === undefined) {
    await close();
    throw failed?.reason;
  }
  return {
    get access() {
      const urls = inGroups(
        nodes.map(({ access }) => access.url),
        replicas,
      );
      return { ...first.access, cluster: { name: NAME, shards: urls, isReplicated: false } };
    },
    nodes,
    secrets: [user, users.reader, users.writer, users.guest].map(({ password }) => password),
    async kill(node) {
      await nodes[node]?.stop();
      return async () => {
        nodes[node] = await start(tcpPorts[node] ?? 0);
      };
    },
    close,
  };
}

function inGroups<Item>(items: readonly Item[], size: number): [Item, ...Item[]][] {
  return items.flatMap((first, at) =>
    at % size === 0 ? [[first, ...items.slice(at + 1, at + size)] as [Item, ...Item[]]] : [],
  );
}

async function differentPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
