import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Guest, Writer } from '../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { createGuest } from '../../../clickhouse/guest/engine.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { TRANSACTION_FEES } from '../../../clickhouse/tables/fees.ts';
import { insertRows } from '../../../clickhouse/tables/table.ts';
import { PUBLIC_TABLE_NAMES } from '../../../core/domain/public-tables.ts';
import { readMissing, readOpenHours, refreshKept, saveDoneHours } from '../../../ingest/fees/hours.ts';
import { verdictPass } from '../../../ingest/verdicts/pass.ts';
import { exportText } from '../../../sandbox/run/export-text.ts';
import { startCluster, type TestCluster } from '../../kit/cluster.ts';
import { testLog } from '../../kit/engine.ts';
import { BASE, insertSettlements, NOON, settlement, wallet } from '../../kit/rows.ts';
import { watchSecret } from '../../kit/secrets-watch.ts';

/** Public tables over two nodes: sums over several shards, and rows that every node could show. */

const DAY = 86_400;

let cluster: TestCluster;
let writer: Writer;
let guest: Guest;

beforeAll(async () => {
  cluster = await startCluster({ shards: 2, database: 'index_of_public', log: testLog });
  for (const secret of cluster.secrets) watchSecret(secret);
  await migrate(cluster.access, testLog);
  writer = createWriter(cluster.access, testLog);
  guest = createGuest(cluster.access);
});
afterAll(async () => {
  await Promise.all([writer, guest].map((part) => part?.close()));
  await cluster?.close();
});

const asGuest = (text: string) => guest.explain({ name: 'public', text, maxSeconds: 20 });

test('a wallet whose days are on both shards is one row of wallets', async () => {
  const payer = wallet(0x700);
  await insertSettlements(
    writer,
    Array.from({ length: 8 }, (_, at) =>
      settlement({ blockNumber: 20_000 + at, blockTime: NOON - at * DAY, payer, payee: wallet(0x701) }),
    ),
  );
  expect(await asGuest(`SELECT day FROM payer_days WHERE payer = '${payer}'`)).toHaveLength(8);
  const flags = 'is_agent, is_listed, is_relayer, in_ring';
  expect(
    await asGuest(
      `SELECT paid_count, paid_usd, chains, name, ${flags} FROM wallets WHERE address = '${payer}'`,
    ),
  ).toEqual([['8', '0.08', [BASE], null, false, false, false, false]]);
});

test.each([
  'SELECT count() FROM settlements JOIN my_mine AS m ON m.w = payer',
  'SELECT count() FROM my_mine AS m JOIN settlements ON m.w = payer',
  'SELECT count() FROM settlements WHERE payer IN my_mine',
  'SELECT count() FROM settlements WHERE payer IN (SELECT w FROM my_mine)',
  'WITH m AS (SELECT w FROM my_mine) SELECT count() FROM settlements LEFT JOIN m ON m.w = payer WHERE m.w IS NOT NULL',
])('a table that is sent with the query is joined with the rows of every shard: %s', async (text) => {
  const mine = {
    name: 'my_mine',
    format: 'CSV',
    structure: 'w String',
    bytes: Buffer.from(`${wallet(0x700)}\n0x1\n`),
  };
  expect(await guest.explain({ name: 'public', text, maxSeconds: 20, attached: [mine] })).toEqual([['8']]);
});

test('rings belong to the published pass, which one node alone knows', async () => {
  const run = (text: string) =>
    writer.run({ name: 'fill', sql: trustedText(text), maxSeconds: 10, kind: 'other' });
  await run(
    `INSERT INTO wallet_rings SELECT '${wallet(1)}', 2, ['${wallet(1)}', '${wallet(2)}'], 1, 3, toDateTime(1), toDateTime(2), '1', 5`,
  );
  await run('INSERT INTO ring_passes (gen) VALUES (5)');
  expect(await asGuest('SELECT wallet FROM wallet_rings')).toEqual([[wallet(1)]]);
});

test('wallets are judged over both shards, and fees are compared and kept on the shard of their day', async () => {
  const { signal } = new AbortController();
  const clock = { nowMs: () => (NOON + DAY) * 1_000 };
  expect(
    await verdictPass({ writer, log: testLog, signal, clock, limits: { rowsPerStatement: 4 } }),
  ).toMatchObject({
    verdicts: 2,
  });
  expect(
    await asGuest(`SELECT wallet, role, verdict, settlement_count FROM wallet_verdicts ORDER BY wallet`),
  ).toEqual([
    [wallet(0x700), 'payer', 'insufficient', '8'],
    [wallet(0x701), 'payee', 'insufficient', '8'],
  ]);
  const open = await readOpenHours(writer, BASE, 100);
  expect(open).toMatchObject({ total: 8, oldest: NOON - 7 * DAY });
  const scope = { chain: BASE, hours: open.hours.map(({ hour }) => hour), above: 0 };
  const missing = () => readMissing(writer, scope, { finalBlock: 20_004, rowsMax: 100 });
  const found = await missing();
  expect(found.map(({ blockNumber }) => blockNumber)).toEqual(
    [4, 3, 2, 1, 0, 7, 6, 5].map((at) => 20_000 + at),
  );
  await insertRows(writer, {
    name: 'test-fees',
    table: TRANSACTION_FEES,
    rows: found
      .slice(0, 5)
      .map((row) => ({ ...row, facilitator: 'old', gasUsed: 3, gasPrice: 2n, l1Fee: 1n, fee: 7n })),
    fixed: { chain: BASE, ver: 1n, del: 0 },
  });
  await refreshKept(writer, scope, 2n);
  expect(await missing()).toHaveLength(3);
  expect(
    await asGuest(`SELECT count(), sum(fee_wei), countIf(facilitator = 'old') FROM transaction_fees`),
  ).toEqual([['5', '35', '0']]);
  await saveDoneHours(writer, BASE, open.hours, 1n);
  expect(await readOpenHours(writer, BASE, 100)).toMatchObject({ total: 0, hours: [] });
});

test('a token is one row, although every node knows it, and every table can be read', async () => {
  expect(await asGuest('SELECT count() > 5, count() = uniqExact(chain, address) FROM tokens')).toEqual([
    [1, 1],
  ]);
  for (const name of PUBLIC_TABLE_NAMES)
    await expect(asGuest(`SELECT * FROM ${name} LIMIT 1`), name).resolves.toBeDefined();
});

test('a file of rows of both nodes is in the order that was asked for', async () => {
  const text = 'SELECT block_number, amount, block_time FROM settlements ORDER BY block_number';
  const described = await asGuest(`DESCRIBE TABLE (${text})`);
  const columns = described.map(([name, type]) => ({ name: String(name), type: String(type) }));
  const { figures, body } = await guest.query(
    {
      name: 'export',
      text: exportText(text, columns, { format: 'arrow', numbers: 'native' }),
      queryId: crypto.randomUUID(),
      format: 'ArrowStream',
      maxRows: 100,
      maxSeconds: 20,
    },
    new AbortController().signal,
  );
  const table = tableFromIPC(Buffer.concat(await body.toArray()));
  expect(figures.resultRows).toBe(8);
  expect([...(table.getChild('block_number') ?? [])].map(Number)).toEqual(
    Array.from({ length: 8 }, (_, at) => 20_000 + at),
  );
  expect(table.schema.fields.map(({ type }) => String(type))).toEqual([
    ...['Uint64', 'Decimal[38e0]', 'Timestamp<MILLISECOND, UTC>'],
  ]);
});
