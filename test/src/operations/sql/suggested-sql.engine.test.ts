import { describe, expect } from 'vitest';
import { ANONYMOUS } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../../kit/rows.ts';
import { ask, type SqlApi } from '../../../kit/sql-api.ts';

/** A refused query of another dialect is answered with the same question in the SQL of ClickHouse, and nothing is run or charged. */

let sql: SqlApi;

const SHOP = wallet(0xb2);

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  const rows = Array.from({ length: 10 }, (_, at) =>
    settlement({
      blockNumber: 1_000 + at,
      blockTime: NOON - 3_600 + at,
      payer: wallet(0x100 + at),
      payee: SHOP,
    }),
  );
  await insertSettlements(sql.engine.writer, rows);
  await reportChain(sql.engine.writer, BASE);
});

const OTHER_DIALECTS = [
  [
    'PostgreSQL',
    "SELECT payee, string_agg(DISTINCT payer, ', ' ORDER BY payer) FROM settlements GROUP BY payee",
  ],
  ['Trino', 'SELECT "from", approx_distinct("to") FROM tokens.transfers GROUP BY 1'],
  ['BigQuery', 'SELECT payee, COUNTIF(amount_usd > 1) FROM `x.y.settlements` GROUP BY payee'],
  [
    'MySQL',
    "SELECT DATE_SUB(NOW(), INTERVAL 1 DAY) AS a, GROUP_CONCAT(payer SEPARATOR '/') FROM settlements",
  ],
] as const;

describe('suggested_sql', () => {
  test.each(OTHER_DIALECTS)(
    'of %s runs as it stands, and the refusal cost nothing',
    async (_dialect, text) => {
      const customer = await sql.customer({ units: 10 });
      const { status, body } = await customer.ask(text);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_query' });
      expect(body.suggested_sql).toMatch(/^SELECT/);
      expect((await customer.units()).balance).toBe(10);
      const run = await customer.ask(body.suggested_sql);
      expect(run.status).toBe(200);
      expect(run.body.row_count).toBeGreaterThan(0);
    },
  );

  test('is given to a caller without a key, and for an estimate', async () => {
    const [, text] = OTHER_DIALECTS[0];
    const { status, body } = await ask(sql.api, { sql: text, explain_only: true }, ANONYMOUS);
    expect(status).toBe(400);
    expect(body.suggested_sql).toContain('arrayStringConcat');
  });

  test('is found for a text that ClickHouse parses and cannot plan', async ({ customer }) => {
    const { body } = await customer.ask('SELECT transaction_hash FROM agents.x402_transfers');
    expect(body.suggested_sql).toBe('SELECT tx_hash AS transaction_hash\nFROM settlements');
  });

  test.each([
    ['a table', 'SELECT count() FROM setlements', 'setlements'],
    ['a column', 'SELECT sum(amount_us) FROM settlements', 'amount_us'],
    ['a function', 'SELECT cuont(payer) FROM settlements', 'cuont'],
    ['a clause', 'SELECT payer FORM settlements', undefined],
    ['a type', "SELECT sum(payer) FROM settlements WHERE amount_usd > 'much'", undefined],
    ['a bracket', 'SELECT count( FROM settlements', undefined],
    ['a private table', 'SELECT * FROM system.tables', undefined],
    ['a statement that writes', 'DELETE FROM settlements', undefined],
  ])('is absent where only %s is wrong, and the word is still named', async (_what, text, near) => {
    const customer = await sql.customer();
    const { status, body } = await customer.ask(text);
    expect(status).toBe(400);
    expect(body).not.toHaveProperty('suggested_sql');
    if (near !== undefined) expect(body.near).toBe(near);
  });
});
