import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedEngine, startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import { randomUser, randomUsers } from '../../clickhouse/embedded/users.ts';
import type { EngineAccess } from '../../clickhouse/engine.ts';
import { freePort } from '../../src/free-port.ts';
import type { Log } from '../../src/log.ts';

/** Real engines that know each other, one a shard, all on loopback. */
export interface TestCluster {
  /** Through the first node. */
  readonly access: EngineAccess;
  readonly nodes: readonly EmbeddedEngine[];
  /** Passwords, for whoever watches that none is told. */
  readonly secrets: readonly string[];
  /** Kills the node of a shard, counted from 0, which stays down until the result is called. */
  kill(shard: number): Promise<() => Promise<void>>;
  /** Stops all of them and removes their data. */
  close(): Promise<void>;
}

const MEMORY_MEGABYTES = 1024;
const NAME = 'test_cluster';

export async function startCluster(options: {
  readonly shards: number;
  readonly database: string;
  /** How nodes ask each other: as a user of theirs (default), or as whoever asked. */
  readonly asWhoeverAsked?: boolean;
  readonly queryLog?: boolean;
  readonly log: Log;
}): Promise<TestCluster> {
  const { database, queryLog = false, asWhoeverAsked = false, log } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'settlement-index-cluster-'));
  const users = randomUsers();
  const user = randomUser('node');
  const tcpPorts = await differentPorts(options.shards);
  const start = (tcpPort: number): Promise<EmbeddedEngine> =>
    startEmbeddedEngine({
      dataDir: join(dataDir, String(tcpPort)),
      database,
      maxMemoryMegabytes: MEMORY_MEGABYTES,
      readerDatabases: [`${database}*`],
      queryLog,
      node: { name: NAME, tcpPorts, tcpPort, user, users, asWhoeverAsked },
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
      const shards = nodes.map(({ access }): [string] => [access.url]);
      return { ...first.access, cluster: { name: NAME, shards, isReplicated: false } };
    },
    nodes,
    secrets: [user, users.reader, users.writer, users.guest].map(({ password }) => password),
    async kill(shard) {
      await nodes[shard]?.stop();
      return async () => {
        nodes[shard] = await start(tcpPorts[shard] ?? 0);
      };
    },
    close,
  };
}

async function differentPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
