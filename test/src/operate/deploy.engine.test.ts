import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HostBootstrap } from '../../../clickhouse/embedded/host-bootstrap.ts';
import { findEngineLibrary } from '../../../clickhouse/embedded/library.ts';
import { type EngineAccess, EngineError } from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { createLog } from '../../../core/log.ts';
import { freePort } from '../../../core/process/free-port.ts';
import { superviseChild } from '../../../core/process/supervise.ts';
import { openSandbox } from '../../../sandbox/open.ts';
import { backUp } from '../../../src/operate/backup/backup.ts';
import { sqlTierSeconds } from '../../../src/operations/prices.ts';
import { testBackup } from '../../kit/backup.ts';
import { testLog } from '../../kit/engine.ts';
import { watchSecret } from '../../kit/secrets-watch.ts';

/** The files of deploy/ as docker-compose.yml gives them to ClickHouse, read by a real engine. */

let root: string;
let engine: { readonly access: EngineAccess; stop(): Promise<void> };

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'settlement-index-deploy-'));
  cpSync(new URL('../../../deploy/make-secrets.sh', import.meta.url).pathname, join(root, 'make-secrets.sh'));
  makeSecrets();
  engine = await startDeployedEngine(join(root, 'secrets'));
  for (const { password } of [engine.access.writer, engine.access.reader, engine.access.guest])
    watchSecret(password);
});
afterAll(async () => {
  await engine?.stop();
  rmSync(root, { recursive: true, force: true });
});

function makeSecrets(): void {
  execFileSync('sh', [join(root, 'make-secrets.sh')]);
}

test('secrets are made once, and their directory is the operator’s alone', () => {
  const read = (): string => readFileSync(join(root, 'secrets/clickhouse_writer'), 'utf8');
  const before = read();
  makeSecrets();
  expect(read()).toBe(before);
  expect(before).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(root, 'secrets')).mode & 0o777).toBe(0o700);
});

test('the writer makes the tables, the reader reads and writes nothing, and the guest passes the check of the sandbox', async () => {
  const { applied } = await migrate(engine.access, testLog);
  expect(applied).toContain('0001-baseline');
  const reader = createReader(engine.access);
  const question = { name: 'deploy', sql: sql`SELECT count() FROM settlements`, maxSeconds: 10, maxRows: 1 };
  expect((await reader.rows(question)).rows).toEqual([['0']]);
  await reader.close();
  const asReader = createWriter({ ...engine.access, writer: engine.access.reader });
  const insert = { name: 'deploy', sql: sql`INSERT INTO checkpoints (chain) VALUES ('x')`, maxSeconds: 10 };
  await expect(asReader.run(insert)).rejects.toThrow(EngineError);
  await asReader.close();
  const sandbox = openSandbox({
    access: engine.access,
    log: testLog,
    cores: 2,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  const verdict = await sandbox.inspect({
    text: 'SELECT count() FROM settlements',
    parameters: {},
    caller: 'a',
  });
  expect(verdict).toHaveProperty('accepted');
  await sandbox.close();
});

test('the writer’s rights are enough for a backup, which goes to the disk of the server', async () => {
  const { url, database, writer, reader } = engine.access;
  const file = join(root, 'config.json');
  mkdirSync(join(root, 'data'));
  writeFileSync(
    file,
    JSON.stringify({ dataDir: join(root, 'data'), clickhouse: { url, database, writer, reader } }),
  );
  const manifest = await backUp(testBackup(file).deps, join(root, 'made'), {});
  expect(manifest).toMatchObject({ accounts: null, engine: { place: 'server', disk: 'backups' } });
});

test('a node of the cluster knows its place, and all the others', async () => {
  const node = await startDeployedEngine(join(root, 'secrets'), { isNode: true });
  try {
    const writer = createWriter({ ...node.access, database: 'system' });
    const { rows } = await writer.rows({
      name: 'deploy',
      sql: sql`SELECT getMacro('shard'), getMacro('replica'), count(), countDistinct(shard_num)
        FROM clusters WHERE cluster = 'settlement_index'`,
      maxSeconds: 10,
      maxRows: 1,
    });
    expect(rows).toEqual([['1', 'clickhouse', '4', '2']]);
    await writer.close();
  } finally {
    await node.stop();
  }
});

const ROOT = new URL('../../../', import.meta.url).pathname;
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
async function startDeployedEngine(
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
    connects: [],
    sockets: false,
    library: findEngineLibrary(),
    // It stands for a server that another operator runs, with or without walls.
    own: [],
    borrowed: { read: [], changed: [] },
    landlock: false,
    user: null,
  };
  const child = await superviseChild({
    name: 'deployed engine',
    entry: new URL('../../../clickhouse/embedded/launcher.ts', import.meta.url),
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
