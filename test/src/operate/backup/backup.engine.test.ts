import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { Writer } from '../../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../../clickhouse/engine/http-engine.ts';
import { sql, trustedText, uint64 } from '../../../../clickhouse/engine/sql.ts';
import { recordPass, saveProgress } from '../../../../ingest/grading/regrade/passes.ts';
import { openSqliteStore } from '../../../../src/accounts/sqlite/store.ts';
import { type BackupDeps, backUp } from '../../../../src/operate/backup/backup.ts';
import { backUpEngine, ORDERED_TABLES, restoreEngine } from '../../../../src/operate/backup/engine.ts';
import { readManifest, writeManifest } from '../../../../src/operate/backup/manifest.ts';
import { restore } from '../../../../src/operate/backup/restore.ts';
import { createOrganization } from '../../../kit/access.ts';
import { contentsOf, testBackup } from '../../../kit/backup.ts';
import { dropDatabase, type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import {
  BASE,
  insertSettlements,
  reportChain,
  settlement,
  solanaSettlement,
  tombstone,
} from '../../../kit/rows.ts';

/** Over an engine that is not the command's own, as a remote server is: the index goes to a disk of that server. */

let engine: TestEngine;
let root: string;
const cleanups: (() => Promise<unknown> | unknown)[] = [];

test.beforeAll(async ({ ownEngine }) => {
  engine = ownEngine;
});
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'settlement-index-backup-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  rmSync(root, { recursive: true, force: true });
});

/** The command's parts for a data directory of this name. */
function at(name: string, clickhouse: object = {}): BackupDeps {
  const dataDir = join(root, name);
  mkdirSync(dataDir, { recursive: true });
  const { url, database, writer, reader } = engine.access;
  const config = { dataDir, clickhouse: { url, database, writer, reader, ...clickhouse } };
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify(config));
  return testBackup(join(dataDir, 'config.json')).deps;
}

const to = (name: string): string => join(root, name);
/** Refused before it is asked. */
const NOBODY = 'http://127.0.0.1:9';

async function fill(): Promise<void> {
  const rows = Array.from({ length: 40 }, (_, logIndex) => settlement({ logIndex }));
  await insertSettlements(engine.writer, [...rows, solanaSettlement()]);
  await rollUp(engine.writer);
  await tombstone(engine.writer, rows.slice(0, 3));
  await reportChain(engine.writer, BASE);
}

/** As after the loss of the server: a new writer, because the database of the old one's connections is gone. */
async function loseDatabase(): Promise<Writer> {
  await dropDatabase(createWriter({ ...engine.access, database: 'system' }), engine.database);
  const writer = createWriter(engine.access, testLog);
  cleanups.push(() => writer.close());
  return writer;
}

async function accountsAt(name: string): Promise<void> {
  const store = openSqliteStore({ path: join(root, name, 'control.db') });
  await createOrganization(store, { units: 10 });
  await store.close();
}

test('the tables whose place in the order matters are there', async () => {
  const { rows } = await engine.writer.rows({
    name: 'test-tables',
    sql: sql`SELECT name FROM system.tables WHERE database = currentDatabase()`,
    maxSeconds: 30,
    maxRows: 1_000,
  });
  expect(rows.flat()).toEqual(expect.arrayContaining([...ORDERED_TABLES]));
});

test('while rows follow a change of the catalogue no backup is made', async () => {
  const pass = await recordPass(engine.writer, [{ kind: 'code', code: 'abc', before: null, after: null }]);
  await expect(backUp(at('first'), to('refused'), {})).rejects.toThrow('regrade done');
  const none = { doneFrom: 0, rowsLookedAt: 0, rowsTotal: 0, rowsChanged: 0, isKept: true };
  await saveProgress(engine.writer, [pass], none, 1n, true);
  await backUp(at('first'), to('made'), {});
});

describe('refused, and nothing is changed', () => {
  beforeEach(() => {
    at('first');
    return accountsAt('first');
  });

  test('a directory that holds something, also a backup of before', async () => {
    await backUp(at('first'), to('made'), { only: 'accounts' });
    await expect(backUp(at('first'), to('made'), {})).rejects.toThrow('is not empty');
  });

  test('a backup that was not finished, or whose manifest was touched', async () => {
    mkdirSync(to('half'));
    await expect(restore(at('second'), to('half'), {})).rejects.toThrow('no finished backup');
    await backUp(at('first'), to('made'), { only: 'accounts' });
    const path = join(to('made'), 'manifest.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"ledgerRows":1', '"ledgerRows":2'));
    await expect(restore(at('second'), to('made'), {})).rejects.toThrow('is damaged');
  });

  test('a file that is damaged or gone', async () => {
    await backUp(at('first'), to('made'), { only: 'accounts' });
    const file = join(to('made'), 'accounts', 'control.db');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(5_000) ^ 1, 5_000);
    writeFileSync(file, bytes);
    await expect(restore(at('second'), to('made'), {})).rejects.toThrow('accounts/control.db');
    rmSync(file);
    await expect(restore(at('second'), to('made'), {})).rejects.toThrow('accounts/control.db');
  });

  test('accounts where accounts are, and another key', async () => {
    await backUp(at('first'), to('made'), { only: 'accounts' });
    await expect(restore(at('first'), to('made'), {})).rejects.toThrow('there are accounts already');
    const deps = at('second');
    writeFileSync(join(root, 'first', 'cursor.key'), Buffer.alloc(32, 1));
    await backUp(at('first'), to('keyed'), { only: 'accounts' });
    writeFileSync(join(root, 'second', 'cursor.key'), Buffer.alloc(32, 2));
    await expect(restore(deps, to('keyed'), {})).rejects.toThrow('another cursor.key');
  });

  test('an index where tables are, of another database, or of a newer version', async () => {
    await backUp(at('first'), to('made'), { only: 'index' });
    await expect(restore(at('second'), to('made'), {})).rejects.toThrow('has tables already');
    const other = at('second', { database: 'another' });
    await expect(restore(other, to('made'), {})).rejects.toThrow(
      `set clickhouse.database to ${engine.database}`,
    );
    cpSync(to('made'), to('newer'), { recursive: true });
    const manifest = readManifest(to('newer'));
    if (manifest.engine === null) throw new Error('there is no index in the backup');
    const migrations = [...manifest.engine.migrations, { version: 9_999, checksum: 'of the future' }];
    writeManifest(to('newer'), { ...manifest, engine: { ...manifest.engine, migrations } });
    await expect(restore(at('second'), to('newer'), {})).rejects.toThrow('migration 9999');
    writeManifest(to('newer'), { ...manifest, format: 2 });
    await expect(restore(at('second'), to('newer'), {})).rejects.toThrow('has form 2');
  });

  test('the index of one engine onto a cluster, and a cluster with replicas', async () => {
    const { url } = engine.access;
    const cluster = { cluster: 'several', shards: [[url], [NOBODY]] };
    await backUp(at('first'), to('made'), { only: 'index' });
    await expect(restore(at('second', cluster), to('made'), {})).rejects.toThrow(
      'the backup is of one engine, the configuration names a cluster of 2 shards',
    );
    await expect(backUp(at('first', cluster), to('added'), { base: to('made') })).rejects.toThrow(
      'another number of shards',
    );
    const replicas = { cluster: 'several', replicated: true, shards: [[url, NOBODY]] };
    await expect(backUp(at('first', replicas), to('refused'), {})).rejects.toThrow(
      'copied by ClickHouse itself',
    );
    await backUp(at('first', replicas), to('accounts'), { only: 'accounts' });
  });

  test('a disk that the server does not have', async () => {
    const refused = backUp(at('first'), to('refused'), { only: 'index', disk: 'nowhere' });
    await expect(refused).rejects.toThrow('nowhere');
  });
});

test('written to between its parts, a backup holds no promise about rows that it lacks, and misses no mark', async () => {
  const writer = createWriter(engine.access, testLog);
  cleanups.push(() => writer.close());
  let step = 0;
  /** What ingest does with a block: rows first, then the promise that they are there. */
  const indexBlock = async (): Promise<void> => {
    step += 1;
    await insertSettlements(engine.writer, [settlement({ blockNumber: 50_000 + step })]);
    await engine.writer.run({
      name: 'test-checkpoint',
      sql: sql`INSERT INTO checkpoints (chain, range_end, ver) VALUES ('between', ${uint64(50_000 + step)}, ${uint64(step)})`,
      maxSeconds: 10,
    });
  };
  const between: Writer = {
    ...writer,
    run: async (statement) => {
      if (statement.name === 'backup-begin') await indexBlock();
      await writer.run(statement);
    },
  };
  const { signal } = new AbortController();
  const order = {
    ...({ id: 'between-parts', place: 'server', disk: 'backups', database: engine.database } as const),
    ...{ directories: [], base: null, signal, isTerminal: false, say: () => undefined },
  };
  const holder = { access: engine.access, database: engine.database, path: '', writer: between };
  const manifest = await backUpEngine([holder], order);
  expect(step).toBeGreaterThan(4);
  const fresh = await loseDatabase();
  const run = {
    id: order.id,
    attempt: 'between-back',
    signal,
    say: () => undefined,
    onPoll: () => undefined,
  };
  await restoreEngine(engine.access, manifest, run);
  const { rows } = await fresh.rows({
    name: 'test-promises',
    sql: sql`SELECT (SELECT max(range_end) FROM checkpoints WHERE chain = 'between'),
      (SELECT max(block_number) FROM settlements), (SELECT count() FROM settlements WHERE block_number > 50000),
      (SELECT sum(writes) FROM hour_ver)`,
    maxSeconds: 30,
    maxRows: 1,
  });
  const [promised = 0, there = 0, written = 0, marked = 0] = (rows[0] ?? []).map(Number);
  expect(promised).toBeGreaterThan(50_000);
  expect(there).toBeGreaterThan(promised);
  expect(marked).toBeGreaterThan(written);
});

// Last: the database of this file is lost in it, too.
test('every table comes back as it was, from a whole backup and from one that adds to it, and views go on', async () => {
  await fill();
  const deps = at('first');
  await backUp(deps, to('whole'), { only: 'index' });
  await insertSettlements(engine.writer, [settlement({ logIndex: 99 })]);
  const before = await contentsOf(engine.writer);
  await backUp(deps, to('added'), { base: to('whole') });
  const writer = await loseDatabase();
  await restore(at('second'), to('added'), {});
  expect(await contentsOf(writer)).toEqual(before);
  // The view behind the wallet log is at work, and the public views are there.
  await insertSettlements(writer, [settlement({ logIndex: 100 })]);
  const { rows } = await writer.rows({
    name: 'test-views',
    sql: sql`SELECT (SELECT count() FROM wallet_rows FINAL WHERE log_index = 100),
      (SELECT count() FROM ${trustedText(`${engine.database}_public`)}.settlements) = (SELECT count() FROM settlements FINAL WHERE del = 0)`,
    maxSeconds: 30,
    maxRows: 1,
  });
  expect(rows[0]?.map(Number)).toEqual([2, 1]);
});
