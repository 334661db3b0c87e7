import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EngineAccess, EngineError } from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { openSandbox } from '../../../sandbox/open.ts';
import { backUp } from '../../../src/operate/backup/backup.ts';
import { sqlTierSeconds } from '../../../src/operations/prices.ts';
import { testBackup } from '../../kit/backup.ts';
import { startDeployedEngine } from '../../kit/deployed-engine.ts';
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
  expect(applied.length).toBeGreaterThan(10);
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
