import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BASE, insertSettlements, NOON, nameFacilitator, settlement, wallet } from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

/** What a guest's query does not know is NULL, never a value that could be taken for one that occurs. */

let engine: SandboxEngine;
const ROWS = 40_000;
/** A granule of 8,192 rows that an index found, and under FINAL its two neighbours. */
/** Besides, every query reads which hours there are. */
const FEW_ROWS = 100 + 3 * 8_192;

beforeAll(async () => {
  engine = await sandboxEngine();
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await insertSettlements(
    engine.writer,
    Array.from({ length: ROWS }, (_, at) =>
      settlement({
        blockNumber: 1_000 + at,
        blockTime: NOON + at,
        payer: wallet(1 + at),
        facilitator: at % 4 === 0 ? 'coinbase' : '',
      }),
    ),
  );
});
afterAll(() => engine?.close());

const ask = (sql: string) => engine.guest.explain({ name: 'nulls', text: sql, maxSeconds: 10 });

describe('unknown is NULL', () => {
  test('a row that an outer join adds holds NULL, not 0, an empty text or 1970', async () => {
    const rows = await ask(
      `SELECT f.address = s.relayer, s.chain, s.log_index, s.block_time FROM facilitators AS f
       LEFT JOIN (SELECT * FROM settlements WHERE payer = 'unknown') AS s ON s.relayer = f.address`,
    );
    expect(rows).toEqual([[null, null, null, null]]);
  });

  test('a column that a ROLLUP leaves out is NULL, and distinct from a value that occurs', async () => {
    const rows = await ask(
      'SELECT facilitator, grouping(facilitator), count() FROM settlements GROUP BY ROLLUP(facilitator) ORDER BY 2, 1',
    );
    expect(rows).toEqual([
      ['coinbase', '0', '10000'],
      [null, '0', '30000'],
      [null, '1', '40000'],
    ]);
    const dates = await ask('SELECT toDate(block_time) AS day, count() FROM settlements GROUP BY CUBE(day)');
    expect(dates.filter(([day]) => day === null)).toHaveLength(1);
  });

  test('facilitator is counted, grouped and looked for as NULL', async () => {
    expect(
      await ask(
        'SELECT count(facilitator), countIf(facilitator IS NULL), uniqExact(facilitator) FROM settlements',
      ),
    ).toEqual([['10000', '30000', '1']]);
    expect(await ask("SELECT count() FROM wallet_settlements WHERE facilitator = ''")).toEqual([['0']]);
  });
});

describe('an estimate and a run agree on types', () => {
  test('EXPLAIN sees the same Nullable columns', async () => {
    const sql = 'SELECT s.chain FROM facilitators AS f LEFT JOIN settlements AS s ON s.relayer = f.address';
    const tree = (await ask(`EXPLAIN QUERY TREE ${sql}`)).map(String).join('\n');
    expect(tree).toContain('chain LowCardinality(Nullable(String))');
  });
});

describe('NULL costs no index', () => {
  const rowsRead = async (where: string): Promise<number> => {
    const { figures, body } = await engine.guest.query(
      {
        name: 'nulls-pruned',
        text: `SELECT count() FROM settlements WHERE ${where}`,
        queryId: randomUUID(),
        format: 'CSV',
        maxRows: 10,
        maxSeconds: 10,
      },
      new AbortController().signal,
    );
    await text(body);
    return figures.readRows;
  };
  test('payer, tx_hash and time still read a few granules', async () => {
    expect(await rowsRead(`payer = '${wallet(20_001)}'`)).toBeLessThanOrEqual(FEW_ROWS);
    expect(await rowsRead("block_time < '2026-11-20 12:10:00'")).toBeLessThanOrEqual(FEW_ROWS);
    expect(await rowsRead(`payer = '${wallet(20_001)}' AND facilitator IS NULL`)).toBeLessThanOrEqual(
      FEW_ROWS,
    );
    // The whole of it, so that the bounds above are seen to be some.
    expect(await rowsRead(`facilitator = 'coinbase' AND chain = '${BASE}'`)).toBeGreaterThanOrEqual(ROWS);
  });
});

test('times in JSON and CSV say that they are UTC', async () => {
  const written = async (format: string): Promise<string> => {
    const { body } = await engine.guest.query(
      {
        name: 'times',
        text: `SELECT block_time, toDate(block_time) AS day, [block_time] AS times FROM settlements WHERE payer = '${wallet(1)}'`,
        queryId: randomUUID(),
        format,
        maxRows: 10,
        maxSeconds: 10,
      },
      new AbortController().signal,
    );
    return text(body);
  };
  expect(JSON.parse(await written('JSONEachRow'))).toEqual({
    block_time: '2026-11-20T12:00:00Z',
    day: '2026-11-20',
    times: ['2026-11-20T12:00:00Z'],
  });
  expect(await written('CSVWithNames')).toContain('"2026-11-20T12:00:00Z","2026-11-20"');
});
