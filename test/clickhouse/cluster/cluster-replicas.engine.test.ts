import { afterAll, beforeAll, expect, test } from 'vitest';
import { localDatabaseOf, publicDatabaseOf } from '../../../clickhouse/engine/databases.ts';
import type { EngineAccess, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { nodesOf } from '../../../clickhouse/engine/nodes.ts';
import { type Sql, sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { readDefinitions } from '../../../clickhouse/migrate/cluster-ddl.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { startCluster, type TestCluster } from '../../kit/cluster.ts';
import { testLog } from '../../kit/engine.ts';
import { watchSecret } from '../../kit/secrets-watch.ts';

/**
 * Two nodes of one shard, the second made from the first. They cannot share their rows here: the embedded engine has no port for
 * replicas to fetch parts from each other, so that its replicated tables stay read-only.
 */

const DATABASE = 'index_of_test';
const LOCAL = localDatabaseOf(DATABASE);

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster({ shards: 1, replicas: 2, database: DATABASE, log: testLog });
  for (const secret of cluster.secrets) watchSecret(secret);
});
afterAll(() => cluster?.close());

async function onEach<Result>(work: (writer: Writer) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const node of nodesOf(cluster.access)) {
    const writer = createWriter({ ...node, database: 'system' }, testLog);
    results.push(await work(writer).finally(() => writer.close()));
  }
  return results;
}

async function structure(): Promise<unknown[]> {
  return onEach(async (writer) => {
    const databases = [DATABASE, LOCAL, publicDatabaseOf(DATABASE), publicDatabaseOf(LOCAL)];
    const made = await Promise.all(databases.map((database) => readDefinitions(writer, database)));
    return made.map((definitions) => Object.fromEntries(definitions));
  });
}

function history(): Promise<unknown[]> {
  return onEach(async (writer) => {
    const { rows } = await writer.rows({
      name: 'test-history',
      sql: sql`SELECT version, checksum FROM ${trustedText(LOCAL)}.schema_migrations ORDER BY version`,
      maxSeconds: 10,
      maxRows: 1_000,
    });
    return rows;
  });
}

test('the second replica gets what the first one has, and remembers the same', async () => {
  const { applied } = await migrate(cluster.access, testLog);
  expect(applied).toContain('0001-baseline');
  const [first, second] = await structure();
  expect(second).toEqual(first);
  const [one, other] = await history();
  expect(one).toHaveLength(applied.length);
  expect(other).toEqual(one);
});

test('a replica that lost everything gets what the other one has by now, also when it is named first', async () => {
  // As a Keeper brings it: no file makes this column.
  const [known, emptied] = nodesOf(cluster.access);
  await onNode(known, sql`ALTER TABLE ${trustedText(LOCAL)}.blocks ADD COLUMN later UInt8`);
  for (const name of [DATABASE, LOCAL]) await onNode(emptied, sql`DROP DATABASE ${trustedText(name)} SYNC`);
  const { cluster: named, ...access } = cluster.access;
  const [[first, second] = ['', '']] = named?.shards ?? [];
  const shards: [string, string][] = [[second ?? '', first]];
  const swapped = { ...access, cluster: { name: named?.name ?? '', isReplicated: false, shards } };
  expect((await migrate(swapped, testLog)).applied).toContain('0001-baseline');
  const [one, other] = await structure();
  expect(other).toEqual(one);
  expect(JSON.stringify(other)).toContain('`later` UInt8');
});

async function onNode(node: EngineAccess | undefined, statement: Sql): Promise<void> {
  if (node === undefined) throw new Error('there is no such node');
  const writer = createWriter({ ...node, database: 'system' }, testLog);
  await writer.run({ name: 'test-node', sql: statement, maxSeconds: 30 }).finally(() => writer.close());
}
