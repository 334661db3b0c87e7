import { describe, expect } from 'vitest';
import { test } from '../../kit/fixtures.ts';
import { BASE, hash, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';

/** `{name:Identifier}` stands for a name: it is put into the text before the text is judged. */

test.beforeAll(async ({ sandbox: { writer } }) => {
  await insertSettlements(
    writer,
    [1, 2, 3].map((place) => settlement({ txHash: hash(place) })),
  );
  await reportChain(writer, BASE);
});

describe('a placeholder for a name', () => {
  test.for([
    ['SELECT count() FROM {t:Identifier}', { t: 'settlements' }, 'SELECT count() FROM settlements'],
    [
      'SELECT count() FROM {t:Identifier} AS s WHERE s.{c:Identifier} > 0',
      { t: 'settlements', c: 'amount_usd' },
      'SELECT count() FROM settlements AS s WHERE s.amount_usd > 0',
    ],
    [
      'SELECT max({c:Identifier}) FROM settlements AS s',
      { c: 's.amount_usd' },
      'SELECT max(s.amount_usd) FROM settlements AS s',
    ],
    [
      'SELECT {c:Identifier}, count() FROM settlements GROUP BY {c:Identifier}',
      { c: 'chain' },
      'SELECT chain, count() FROM settlements GROUP BY chain',
    ],
    [
      'SELECT count() FROM settlements PREWHERE {c:Identifier} = {v:String}',
      { c: 'payer', v: 'x' },
      'SELECT count() FROM settlements WHERE payer = {v:String}',
    ],
  ] as const)('%s', async ([sql, values, text], { judge }) => {
    const accepted = await judge.accepted(sql, values);
    expect(accepted.text).toBe(text);
    expect(accepted.parameters.map(({ type }) => type)).not.toContain('Identifier');
  });

  test('gives the rows of the table that it names', async ({ customer }) => {
    const rows = async (sql: string, params: Record<string, string>): Promise<unknown> => {
      const { status, body } = await customer.ask({ sql, params });
      return [status, body.rows];
    };
    const named = 'SELECT count() AS n FROM {t:Identifier} WHERE {c:Identifier} = {v:String}';
    const plain = 'SELECT count() AS n FROM settlements WHERE chain = {v:String}';
    const found = await rows(plain, { v: BASE });
    expect(found).toEqual([200, [{ n: expect.stringMatching(/^[1-9]/) }]]);
    expect(await rows(named, { t: 'settlements', c: 'chain', v: BASE })).toEqual(found);
  });
});
