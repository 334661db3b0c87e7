import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localDatabaseOf, publicDatabaseOf } from '../../../clickhouse/engine/databases.ts';
import {
  type EngineAccess,
  EngineError,
  type Guest,
  type Reader,
  type Writer,
} from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { shardsOf } from '../../../clickhouse/engine/nodes.ts';
import { sql, texts, trustedText } from '../../../clickhouse/engine/sql.ts';
import { createGuest } from '../../../clickhouse/guest/engine.ts';
import { localStatement } from '../../../clickhouse/migrate/cluster-ddl.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { readMigrations } from '../../../clickhouse/migrate/migrations.ts';
import { PLACEMENTS } from '../../../clickhouse/tables/all-tables.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { PUBLIC_TABLE_NAMES } from '../../../core/domain/public-tables.ts';
import { mergeRelayerTotals } from '../../../ingest/rollup/close.ts';
import { runRollupWorker } from '../../../ingest/rollup-worker.ts';
import { createBatchWriter } from '../../../ingest/write/batch-writer.ts';
import { createVersions, highestVersion } from '../../../ingest/write/versions.ts';
import { checkGuest } from '../../../sandbox/run/guest.ts';
import { testApi } from '../../kit/api.ts';
import { attackCases } from '../../kit/attack-cases.ts';
import { startCluster, type TestCluster } from '../../kit/cluster.ts';
import { testLog } from '../../kit/engine.ts';
import { IS_NIGHTLY } from '../../kit/lengths.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, tombstone, wallet } from '../../kit/rows.ts';
import { watchSecret } from '../../kit/secrets-watch.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** Two nodes as their operator meets them: where rows are, one of them down, and what a guest can reach. */

const DATABASE = 'index_of_nodes';
const DAY = 86_400;
const SECRET = 'canary-in-a-hidden-row';

let cluster: TestCluster;
let writer: Writer;
let reader: Reader;
let guest: Guest;

beforeAll(async () => {
  cluster = await startCluster({ shards: 2, database: DATABASE, asQueryUser: true, log: testLog });
  for (const secret of cluster.secrets) watchSecret(secret);
  await migrate(cluster.access, testLog);
  writer = createWriter(cluster.access, testLog);
  reader = createReader(cluster.access, testLog);
  guest = createGuest(cluster.access);
  await reportChain(writer, BASE, { finalized_block: '1000' });
  const hidden = settlement({ blockNumber: 5, facilitator: SECRET });
  await insertSettlements(writer, [hidden]);
  await tombstone(writer, [hidden]);
});
afterAll(async () => {
  await Promise.all([writer, reader, guest].map((part) => part?.close()));
  await cluster?.close();
});

async function rowsOf(statement: string): Promise<readonly (readonly unknown[])[]> {
  const asked = { name: 'test', sql: trustedText(statement), maxSeconds: 60, maxRows: 10_000 };
  return (await writer.rows(asked)).rows;
}

describe('the schema', () => {
  test('every table and view of the files has a placement, and every placement is a table', async () => {
    const rows = await rowsOf(
      `SELECT name FROM system.tables WHERE database = '${localDatabaseOf(DATABASE)}'
        AND engine != 'MaterializedView' AND NOT startsWith(name, 'engine_') AND name != 'schema_migrations'`,
    );
    expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(PLACEMENTS).sort());
  });

  test('is left alone when it is made again', async () => {
    const uuids = `SELECT name, uuid FROM system.tables WHERE database = '${DATABASE}' AND engine = 'Distributed' ORDER BY name`;
    const before = await rowsOf(uuids);
    expect(await migrate(cluster.access, testLog)).toMatchObject({ applied: [] });
    expect(await rowsOf(uuids)).toEqual(before);
    expect(before.length).toBeGreaterThan(40);
  });

  // No Keeper runs here: that the engine can read what it would be sent is all that can be asked of it.
  test('as replicas every statement of the files is one that the engine can read', async () => {
    const statements = (await readMigrations()).flatMap((migration) => migration.statements);
    const own = statements.map((one) => localStatement(one, { database: DATABASE, isReplicated: true }));
    const { rows } = await writer.rows({
      name: 'test',
      sql: sql`SELECT formatQuerySingleLine(arrayJoin(${texts(own)}))`,
      maxSeconds: 60,
      maxRows: 1_000,
    });
    expect(rows).toHaveLength(statements.length);
    expect(rows.filter(([read]) => /ENGINE = Replicated/.test(String(read))).length).toBeGreaterThan(30);
  });

  test('nodes in another order are refused before anything is made', async () => {
    const { access } = cluster;
    const named = (shards: readonly (readonly [string, ...string[]])[]): EngineAccess => ({
      ...access,
      database: 'never_made',
      cluster: { name: access.cluster?.name ?? '', isReplicated: false, shards },
    });
    const shards = access.cluster?.shards ?? [];
    await expect(migrate(named(shards.toReversed()), testLog)).rejects.toThrow(/it is shard/);
    await expect(migrate(named(shards.slice(0, 1)), testLog)).rejects.toThrow(/has 2 shards/);
  });
});

test('a day is on one shard and days on both, and so is a wallet', async () => {
  const rows = Array.from({ length: 40 }, (_, at) =>
    settlement({
      blockNumber: 10_000 + at,
      blockTime: NOON - (at % 8) * DAY,
      payer: wallet(0x500 + (at % 10)),
    }),
  );
  await insertSettlements(writer, rows);
  for (const [table, what] of [
    ['settlements', 'toDate(block_time)'],
    ['hour_ver', 'toDate(hour)'],
    ['wallet_rows', 'wallet'],
  ] as const) {
    const places = await rowsOf(
      `SELECT uniqExact(_shard_num), groupUniqArray(_shard_num) FROM ${table} GROUP BY ${what}`,
    );
    expect(places.map(([count]) => count)).toEqual(places.map(() => '1'));
    expect(new Set(places.map(([, shards]) => String(shards)))).toEqual(new Set(['1', '2']));
  }
  const small = await rowsOf('SELECT groupUniqArray(_shard_num) FROM chain_status');
  expect(small).toEqual([[[1]]]);
});

test('a guest gets the rows of every node, also where nodes ask each other as the guest', async () => {
  const payer = wallet(0x900);
  const rows = Array.from({ length: 12 }, (_, at) =>
    settlement({ blockNumber: 30_000 + at, blockTime: NOON - at * DAY, payer }),
  );
  await insertSettlements(writer, rows);
  for (const text of [
    `SELECT block_number FROM settlements WHERE payer = '${payer}'`,
    `SELECT day FROM payer_days WHERE payer = '${payer}' ORDER BY day`,
    `SELECT block_number FROM wallet_settlements WHERE wallet = '${payer}'`,
  ])
    expect(await guest.explain({ name: 'public', text, maxSeconds: 20 }), text).toHaveLength(rows.length);
});

test('a guest whose profile would cut the rows of other nodes is unfit', async () => {
  await expect(checkGuest(guest, cluster.access)).resolves.toHaveProperty('engineVersion');
  const bounded: Guest = {
    ...guest,
    query: (query, signal) =>
      query.maxRows === 0
        ? Promise.reject(new EngineError('engine_refused', query.name, SETTING_CONSTRAINT_VIOLATION, null))
        : guest.query(query, signal),
  };
  await expect(checkGuest(bounded, cluster.access)).rejects.toThrow(/limit = 0/);
});
const SETTING_CONSTRAINT_VIOLATION = 452;

test('the published catalogue answers the guest on a cluster as on a single engine', async () => {
  const ask = (text: string) => guest.explain({ name: 'catalogue', text, maxSeconds: 20 });
  expect(await ask('SELECT name FROM system_databases ORDER BY name')).toEqual([
    ['default'],
    ['information_schema'],
    ['system'],
  ]);
  const tables = await ask(
    "SELECT t.name FROM system_tables AS t WHERE t.database = 'default' AND t.name IN (SELECT table FROM system_columns)",
  );
  expect(tables).toHaveLength(PUBLIC_TABLE_NAMES.length);
});

test('a look-up reads what its indexes find, on every node', async () => {
  const { relayer, asset } = settlement();
  await writer.run({
    name: 'test-many',
    maxSeconds: 60,
    sql: sql`INSERT INTO settlements (chain, block_number, block_time, tx_hash, payer, payee, relayer, asset, ver)
      SELECT ${trustedText(`'${BASE}'`)}, number + 100000, toDateTime(${trustedText(String(NOON - 30 * DAY))} + number, 'UTC'),
        substring(reinterpretAsFixedString(toUInt256(number + 1000000)), 1, 32), substring(toFixedString(toString(number), 20), 1, 20),
        substring(toFixedString(toString(number % 100), 20), 1, 20),
        unhex(${trustedText(`'${relayer.slice(2)}'`)}), unhex(${trustedText(`'${asset.slice(2)}'`)}), 1
      FROM numbers(${trustedText(String(MANY))})`,
  });
  const payer = `0x${Buffer.from('77777').toString('hex').padEnd(40, '0')}`;
  const { figures, body } = await guest.query(
    {
      name: 'look-up',
      text: `SELECT block_number FROM settlements WHERE payer = '${payer}'`,
      queryId: crypto.randomUUID(),
      format: 'CSV',
      maxRows: 10,
      maxSeconds: 60,
    },
    new AbortController().signal,
  );
  expect(String(await body.toArray()).trim()).toBe('177777');
  expect(figures.readRows).toBeLessThan(MANY / 2);
});
const MANY = 100_000;

/** What a wall must not let through on a cluster besides what it must not on one engine. */
const OVER_THE_WALL: readonly string[] = [
  `SELECT count() FROM ${DATABASE}.settlements`,
  `SELECT count() FROM ${localDatabaseOf(DATABASE)}.settlements`,
  `SELECT last_error FROM ${localDatabaseOf(DATABASE)}.chain_status`,
  `SELECT count() FROM ${DATABASE}.engine_statements`,
  `SELECT count() FROM ${localDatabaseOf(DATABASE)}.engine_parts`,
  `SELECT * FROM remote('127.0.0.1', '${DATABASE}.settlements')`,
  `SELECT * FROM cluster('test_cluster', '${localDatabaseOf(DATABASE)}.settlements')`,
  `SELECT * FROM clusterAllReplicas('test_cluster', system.processes)`,
  `SELECT * FROM clusterAllReplicas('test_cluster', ${publicDatabaseOf(DATABASE)}.settlements)`,
  'SELECT * FROM system.clusters',
  'SELECT count() FROM settlements SETTINGS skip_unavailable_shards = 1',
  "SELECT count() FROM settlements SETTINGS distributed_product_mode = 'local'",
];

describe('the second wall', () => {
  test.each(OVER_THE_WALL)('%s', async (text) => {
    await expect(guest.explain({ name: 'attack', text, maxSeconds: 20 })).rejects.toMatchObject({
      engineCode: expect.toBeOneOf([497, 164]),
    });
  });

  test.runIf(IS_NIGHTLY)('a sample of the attacks on one engine tells nothing on two', async () => {
    const stage = { secretFile: '/nowhere/secret', outFile: '/nowhere/out' };
    const cases = [DATABASE, localDatabaseOf(DATABASE)]
      .flatMap((database) => attackCases({ ...stage, database }))
      .filter(({ family }) => !/bombs|kernels|lexer|parameters/.test(family))
      .filter((_, at) => at % SAMPLED === 0);
    const told = await Promise.all(
      cases.map(({ id, sql: text, params: parameters }) =>
        guest.explain({ name: 'attack', text, parameters, maxSeconds: 5 }).then(
          (rows) => (JSON.stringify(rows).includes(SECRET) ? id : null),
          (error: unknown) => (String(error).includes(SECRET) ? id : null),
        ),
      ),
    );
    expect(told.filter((id) => id !== null)).toEqual([]);
    expect(told.length).toBeGreaterThan(30);
  });
});
const SAMPLED = 12;

const ROUTES: readonly (readonly [string, RegExp])[] = [
  ['/v0/flows', /^(settlements|names|chains)$/],
  ['/v0/wallets', /^(wallets|settlements|names|chains)$/],
  ['/v0/agents', /^(agents|names|chains)$/],
  ['/readyz', /^index$/],
];
/** For conditions that take seconds on an idle machine. */
const BUSY_MS = 120_000;
const BATCHES = 12;
const BATCH_ROWS = 200;
const DAYS = 9;

/** One settlement for every number, over some days and both shards. */
function numbered(number: number): Settlement {
  return settlement({
    blockNumber: 500_000 + number,
    blockTime: NOON - 60 * DAY - (number % DAYS) * DAY,
    payer: wallet(0x9000 + (number % 41)),
    payee: wallet(0xa000 + (number % 7)),
  });
}

test.runIf(IS_NIGHTLY)(
  'with one node down no answer is partial, and every acknowledged row is there when it is back',
  async () => {
    const api = await testApi(reader);
    let attempts = 0;
    const counted: Writer = {
      ...writer,
      insert: (...call) => {
        attempts += 1;
        return writer.insert(...call);
      },
    };
    const signal = new AbortController().signal;
    const batches = createBatchWriter({
      chain: BASE,
      writer: counted,
      versions: createVersions(0n),
      log: testLog,
      signal,
    });
    const write = (batch: number): Promise<void> =>
      batches.write({
        settlements: Array.from({ length: BATCH_ROWS }, (_, at) => numbered(batch * BATCH_ROWS + at)),
        agentEvents: [],
        attestations: [],
        deadLetters: [],
      });
    await write(0);
    const later = Array.from({ length: BATCHES - 1 }, (_, at) => write(at + 1));
    const start = await cluster.kill(1);
    const before = attempts;
    await waitUntil('the write is repeated', async () => attempts > before + 1, BUSY_MS);
    api.clock.advanceSeconds(3_600);
    for (const [path, resource] of ROUTES) {
      const { status, body, text } = await api.get(path);
      expect([path, status, body.code]).toEqual([path, 503, 'upstream_unavailable']);
      expect(body.resource).toMatch(resource);
      expect(text).not.toMatch(/127\.0\.0\.1|index_of|shard|ClickHouse/);
    }
    await start();
    await Promise.all(later);
    await waitUntil(
      'everything is answered again',
      async () => (await api.get('/v0/flows')).status === 200,
      BUSY_MS,
    );
    await api.close();
    await expectAll(BATCHES * BATCH_ROWS);
  },
);

/** Rows, both sides of each, and the rollups of them. */
async function expectAll(count: number): Promise<void> {
  const mine = `block_number >= 500000 AND block_number < ${500_000 + count}`;
  const [rows] = await rowsOf(
    `SELECT count(), uniqExact(block_number), countIf(del = 1) FROM settlements FINAL WHERE ${mine}`,
  );
  expect(rows).toEqual([String(count), String(count), '0']);
  const [sides] = await rowsOf(
    `SELECT count(), uniqExact(block_number, role) FROM wallet_rows FINAL WHERE ${mine} AND del = 0`,
  );
  expect(sides).toEqual([String(2 * count), String(2 * count)]);
  const below = NOON - 59 * DAY;
  await rollUpByTheWorker();
  const [rolled] = await rowsOf(
    `SELECT sum(settlement_count), uniqExact(day), uniqExact(_shard_num) FROM payee_day FINAL WHERE day < toDate(${below})`,
  );
  expect(rolled).toEqual([String(count), String(DAYS), '2']);
}

/** Role `rollup` as it runs, long after everything that was written: closes what it finds on each shard and merges over both. */
async function rollUpByTheWorker(): Promise<void> {
  const ending = new AbortController();
  const working = runRollupWorker({
    config: loadConfig({ env: {} }),
    writer,
    shards: shardsOf(cluster.access).map((shard) => createWriter(shard, testLog)),
    log: testLog,
    signal: ending.signal,
    clock: { nowMs: () => Math.max(Date.now(), NOON * 1_000) + 10 * DAY * 1_000 },
    terminal: null,
  });
  const isClosed = async (): Promise<boolean> => {
    const [row] = await rowsOf('SELECT countIf(ver > rolled_ver) FROM rollup_slices');
    return Number(row?.[0]) === 0;
  };
  await Promise.race([working, waitUntil('every slice is closed', isClosed, BUSY_MS)]);
  ending.abort();
  await working;
  // The worker merges at once and then every minute: what it has merged may be older than the last slice.
  const versions = createVersions(await highestVersion(writer));
  expect(await mergeRelayerTotals({ writer, versions })).toMatch(/^(merged|current)$/);
  const [sums] = await rowsOf(
    `SELECT (SELECT sum(settlement_count) FROM relayer_totals WHERE gen = (SELECT max(gen) FROM relayer_total_passes)),
      (SELECT count() FROM settlements FINAL WHERE del = 0)`,
  );
  expect(sums?.[0]).toBe(sums?.[1]);
}
