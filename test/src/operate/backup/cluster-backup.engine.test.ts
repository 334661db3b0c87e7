import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  localDatabaseOf,
  publicDatabaseOf,
  viewedDatabaseOf,
} from '../../../../clickhouse/engine/databases.ts';
import type { EngineAccess, Writer } from '../../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../../clickhouse/engine/http-engine.ts';
import { nodesOf } from '../../../../clickhouse/engine/nodes.ts';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import { migrate } from '../../../../clickhouse/migrate/migrate.ts';
import { type BackupDeps, backUp } from '../../../../src/operate/backup/backup.ts';
import { readManifest } from '../../../../src/operate/backup/manifest.ts';
import { restore } from '../../../../src/operate/backup/restore.ts';
import { contentsOf, testBackup } from '../../../kit/backup.ts';
import { startCluster, type TestCluster } from '../../../kit/cluster.ts';
import { testLog } from '../../../kit/engine.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';
import { watchSecret } from '../../../kit/secrets-watch.ts';

/** Two shards are copied by one command, lost, and put back by one command. */

const DATABASE = 'index_of_test';
const DAY = 86_400;
const SHARDS = 2;

let cluster: TestCluster;
let root: string;
let deps: BackupDeps;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'settlement-index-backup-'));
  cluster = await startCluster({ shards: SHARDS, database: DATABASE, log: testLog });
  for (const secret of cluster.secrets) watchSecret(secret);
  await migrate(cluster.access, testLog);
  deps = testBackup(configOf(cluster.access)).deps;
});
afterAll(async () => {
  await cluster?.close();
  rmSync(root, { recursive: true, force: true });
});

/** As an operator writes it. */
function configOf({ url, database, writer, reader, cluster: found }: EngineAccess): string {
  const dataDir = join(root, 'data');
  mkdirSync(dataDir, { recursive: true });
  const clickhouse = { url, database, writer, reader, cluster: found?.name, shards: found?.shards };
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ dataDir, clickhouse }));
  return join(dataDir, 'config.json');
}

const to = (name: string): string => join(root, name);

async function withWriter<Result>(
  access: EngineAccess,
  work: (writer: Writer) => Promise<Result>,
): Promise<Result> {
  const writer = createWriter(access, testLog);
  try {
    return await work(writer);
  } finally {
    await writer.close();
  }
}

/** Settlements of six days and many wallets, so that both shards have rows of both tables; rolled up where they are. */
async function fill(): Promise<void> {
  const rows = Array.from({ length: 60 }, (_, index) =>
    settlement({ blockTime: NOON - (index % 6) * DAY, logIndex: index, payee: wallet(0x500 + index) }),
  );
  await withWriter(cluster.access, async (writer) => {
    await insertSettlements(writer, rows);
    await reportChain(writer, BASE);
  });
  for (const node of nodesOf(cluster.access)) await withWriter(node, (writer) => rollUp(writer));
  await withWriter(cluster.access, (writer) => tombstone(writer, rows.slice(0, 3)));
}

/** What every table of every shard holds. */
async function contents(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const node of nodesOf(cluster.access)) found.push(await withWriter(node, contentsOf));
  return found;
}

async function loseAll(): Promise<void> {
  const local = localDatabaseOf(DATABASE);
  const names = [
    DATABASE,
    local,
    publicDatabaseOf(DATABASE),
    publicDatabaseOf(local),
    viewedDatabaseOf(DATABASE),
  ];
  for (const node of nodesOf(cluster.access)) {
    await withWriter({ ...node, database: 'system' }, async (writer) => {
      for (const name of names)
        await writer.run({
          name: 'test-lose',
          sql: sql`DROP DATABASE IF EXISTS ${trustedText(name)} SYNC`,
          maxSeconds: 30,
        });
    });
  }
}

test('every shard comes back as it was, from a backup that adds to another one, and the whole goes on', async () => {
  await fill();
  await backUp(deps, to('whole'), { only: 'index' });
  expect(readManifest(to('whole')).engine).toMatchObject({
    place: 'server',
    shards: SHARDS,
    database: DATABASE,
  });
  await withWriter(cluster.access, (writer) => insertSettlements(writer, [settlement({ logIndex: 99 })]));
  const before = await contents();
  expect(before[0]).not.toEqual(before[1]);
  await backUp(deps, to('added'), { base: to('whole'), only: 'index' });
  await expect(restore(deps, to('added'), {})).rejects.toThrow('has tables already');

  await loseAll();
  await restore(deps, to('added'), {});
  expect(await contents()).toEqual(before);

  // Views between the shards are at work, and what reaches over all of them is there.
  const rows = await withWriter(cluster.access, async (writer) => {
    await insertSettlements(writer, [settlement({ logIndex: 100, payee: wallet(0x7) })]);
    return writer.rows({
      name: 'test-ask',
      maxSeconds: 30,
      maxRows: 1,
      sql: sql`SELECT (SELECT count() FROM wallet_rows FINAL WHERE log_index = 100), (SELECT count() FROM settlements FINAL WHERE del = 0),
        (SELECT count() FROM ${trustedText(publicDatabaseOf(DATABASE))}.settlements)`,
    });
  });
  expect(rows.rows[0]?.map(Number)).toEqual([2, 59, 59]);
});
