import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostBootstrap } from '../../clickhouse/embedded/host-bootstrap.ts';
import { findEngineLibrary } from '../../clickhouse/embedded/library.ts';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import { createLog } from '../../core/log.ts';
import { freePort } from '../../core/process/free-port.ts';
import { superviseChild } from '../../core/process/supervise.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const SECRETS = '/run/secrets/';
/** What the image of ClickHouse has in its users.xml. The engine’s own session needs `default`; the deployment removes it. */
const OWN_USERS = `<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users><default>
<password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
<grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants></default></users></clickhouse>`;

/**
 * A real engine that is configured by the files of deploy/clickhouse, as the server of docker-compose.yml is, with these secrets. `isNode`: as
 * one of docker-compose.cluster.yml, by itself.
 * Changed are places alone: of secrets and of backups.
 */
export async function startDeployedEngine(
  secretsDir: string,
  { isNode = false }: { readonly isNode?: boolean } = {},
): Promise<{ readonly access: EngineAccess; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'settlement-index-deployed-'));
  for (const below of ['config.d', 'users.d', 'store']) mkdirSync(join(dir, below));
  const deployed = (name: string): string =>
    readFileSync(join(ROOT, 'deploy/clickhouse', name), 'utf8')
      .replaceAll(SECRETS, `${secretsDir}/`)
      .replace('<path>/var/lib/clickhouse/disks/backups/</path>', `<path>${dir}/disks/backups/</path>`);
  writeFileSync(join(dir, 'config.d/server.xml'), deployed('server.xml'));
  writeFileSync(join(dir, 'users.d/index-users.xml'), deployed(isNode ? 'users-cluster.xml' : 'users.xml'));
  if (isNode) writeFileSync(join(dir, 'config.d/cluster.xml'), deployed('cluster.xml'));
  writeFileSync(join(dir, 'users.xml'), OWN_USERS);
  const configFile = join(dir, 'config.xml');
  writeFileSync(configFile, `<clickhouse><users_config>${dir}/users.xml</users_config></clickhouse>`);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const bootstrap: HostBootstrap = {
    path: join(dir, 'store'),
    configFile,
    port,
    tcpPort: null,
    library: findEngineLibrary(),
    // It stands for a server of somebody else's, which has walls of its own or none.
    own: [],
    borrowed: { read: [], changed: [] },
    landlock: false,
    user: null,
  };
  const child = await superviseChild({
    name: 'deployed engine',
    entry: new URL('../../clickhouse/embedded/launcher.ts', import.meta.url),
    bootstrap,
    ready: async () => (await fetch(`${url}ping`)).ok,
    log: createLog('warn', 'deployed-engine'),
    stopSignal: 'SIGKILL',
    environment: { TZ: 'UTC', SHARD: '1', REPLICA: 'clickhouse' },
  });
  const user = (role: string) => ({
    user: `index_${role}`,
    password: readFileSync(join(secretsDir, `clickhouse_${role}`), 'utf8'),
  });
  return {
    access: {
      url,
      database: 'settlement_index',
      writer: user('writer'),
      reader: user('reader'),
      guest: user('guest'),
    },
    async stop() {
      await child.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
