import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleColumns } from '../../../src/bundles/tables.ts';
import { type BundleWorld, bundleWorld, DAYS, fillWorld, worldRows } from '../../kit/bundles.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';
import { peersAreThere, requirePeer } from '../../kit/peers.ts';
import { insertSettlements, settlement, wallet } from '../../kit/rows.ts';

/** The part of DuckDB's interface that is called here. */
interface DuckDb {
  readonly DuckDBInstance: { create(path: string): Promise<DuckDbInstance> };
}
interface DuckDbInstance {
  connect(): Promise<{
    run(sql: string): Promise<unknown>;
    runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[] }>;
    closeSync(): void;
  }>;
  closeSync(): void;
}

const IS_ABSENT = !peersAreThere();
const DOCS = new URL('../../../docs/', import.meta.url);

let engine: TestEngine;
let world: BundleWorld;
let ask: (sql: string) => Promise<Record<string, unknown>[]>;
let close: () => void;

/** A row that came late: its day has two revisions. */
const LATE = settlement({
  blockTime: Date.parse(DAYS[0]) / 1_000 + 30,
  blockNumber: 199,
  payee: wallet(0xee),
  amountUsdMicros: 1_500_000n,
});

beforeAll(async () => {
  engine = await testEngine();
  world = bundleWorld(engine.access);
  await fillWorld(engine.writer);
  await world.make();
  await insertSettlements(engine.writer, [LATE]);
  await world.make();
  const { DuckDBInstance } = requirePeer('@duckdb/node-api') as DuckDb;
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  // The views name files from where DuckDB was started.
  await connection.run(`SET file_search_path = '${world.config.bundles.dir}'`);
  await connection.run(readFileSync(new URL('bundles.sql', DOCS), 'utf8'));
  ask = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  close = () => {
    connection.closeSync();
    instance.closeSync();
  };
});
afterAll(async () => {
  close();
  world.remove();
  await engine.close();
});

test.skipIf(IS_ABSENT)(
  'the views have each row of the newest revisions once, in types that add up exactly',
  async () => {
    const rows = [...worldRows().filter(({ blockTime }) => blockTime < Date.parse(DAYS[3]) / 1_000), LATE];
    const micros = rows.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
    const amount = rows.reduce((sum, row) => sum + row.amount, 0n);
    expect(
      await ask(
        'SELECT count(*)::VARCHAR AS n, sum(amount)::VARCHAR AS amount, (sum(amount_usd) * 1000000)::DECIMAL(38, 0)::VARCHAR AS micros, sum(is_self_payment::INT)::VARCHAR AS own FROM settlements',
      ),
    ).toEqual([
      {
        n: String(rows.length),
        amount: String(amount),
        micros: String(micros),
        own: String(rows.filter(({ payer, payee }) => payer === payee).length),
      },
    ]);
    expect(await ask('SELECT count(*)::INT AS n FROM wallet_settlements')).toEqual([{ n: 2 * rows.length }]);
  },
);

test.skipIf(IS_ABSENT)('columns have the types that the page says', async () => {
  const types = new Map(
    (await ask('DESCRIBE settlements')).map((row) => [row['column_name'], row['column_type']] as const),
  );
  expect([...types.keys()]).toEqual(bundleColumns('settlements').map(({ name }) => name));
  expect(types.get('amount')).toBe('DECIMAL(38,0)');
  expect(types.get('amount_usd')).toBe('DECIMAL(38,6)');
  expect(types.get('block_time')).toBe('TIMESTAMP WITH TIME ZONE');
  expect(types.get('evidence_reasons')).toBe('VARCHAR[]');
  const attested = await ask(
    "SELECT column_type AS t FROM (DESCRIBE attestations) WHERE column_name = 'agent_id'",
  );
  expect(attested).toEqual([{ t: 'VARCHAR' }]);
});

test.skipIf(IS_ABSENT)('sums of days are what the settlements add up to', async () => {
  const differences = await ask(`
    SELECT day FROM (SELECT day, sum(settled_usd) AS usd, sum(settlement_count) AS n FROM pair_days GROUP BY day)
    FULL JOIN (SELECT block_time::DATE AS day, sum(amount_usd) AS usd2, count(*) AS n2 FROM settlements GROUP BY 1) USING (day)
    WHERE usd IS DISTINCT FROM usd2 OR n IS DISTINCT FROM n2`);
  expect(differences).toEqual([]);
  expect(await ask('SELECT count(DISTINCT day)::INT AS n FROM pair_days')).toEqual([{ n: 2 }]);
});

const page = readFileSync(new URL('bundles.md', DOCS), 'utf8');
const queries = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql.trim());

test.skipIf(IS_ABSENT)('the page has queries', () => {
  expect(queries.length).toBeGreaterThanOrEqual(4);
});

test.skipIf(IS_ABSENT).each(queries.map((sql) => [sql.split('\n')[0], sql] as const))(
  '%s… of the page runs and finds rows',
  async (_head, sql) => {
    expect((await ask(sql)).length).toBeGreaterThan(0);
  },
);
