import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../kit/fixtures.ts';
import type { Judge } from '../../kit/judge.ts';
import { insertSettlements, NOON, nameFacilitator, settlement, wallet } from '../../kit/rows.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** What is written as groups gives what was asked for: the same values, names and types. */

const ROWS = 400;

test.beforeAll(async ({ sandbox: { writer } }) => {
  await nameFacilitator(writer, 'coinbase', 'Coinbase');
  await insertSettlements(
    writer,
    Array.from({ length: ROWS }, (_, at) =>
      settlement({
        blockNumber: 1_000 + at,
        blockTime: NOON + (at % 7),
        payer: wallet(1 + (at % 50)),
        payee: wallet(1 + (at % 11)),
        facilitator: at % 4 === 0 ? 'coinbase' : '',
      }),
    ),
  );
});

const COLUMNS = [
  'payer',
  'payee',
  'payer_id',
  'facilitator',
  'evidence_probability',
  'evidence_reasons',
  'block_time',
  'asset_decimals',
  'finality',
  'amount',
  'is_self_payment',
];
const columns = fc.uniqueArray(fc.constantFrom(...COLUMNS), { minLength: 1, maxLength: 3 });
const condition = fc.constantFrom(
  '',
  ' AS s',
  ' WHERE 0',
  ` WHERE payer != '${wallet(3)}'`,
  ' WHERE facilitator IS NULL',
  ' AS s WHERE s.payee IN (SELECT DISTINCT payee FROM settlements WHERE log_index >= 0)',
);
const counts = fc.constantFrom(
  (list: string) => (list.includes(',') ? `uniqExact(${list}) AS u` : `uniqExact(${list})`),
  (list: string) => (list.includes(',') ? `count(DISTINCT ${list}) AS u` : `count(DISTINCT ${list})`),
  (list: string) => `COUNT(distinct ${list}) AS n`,
  (list: string) => `countDistinct(${list}) AS wallets`,
);
const forms = fc.constantFrom(
  (count: string, rest: string) => `SELECT ${count} FROM settlements${rest}`,
  (count: string, rest: string) => `SELECT * FROM (SELECT ${count} FROM settlements${rest})`,
  (count: string, rest: string) =>
    `WITH c AS (SELECT ${count} FROM settlements${rest}) SELECT * FROM c CROSS JOIN c AS d`,
);
const lists = fc.constantFrom(
  (list: string, rest: string) => `SELECT count() FROM (SELECT DISTINCT ${list} FROM settlements${rest})`,
  (list: string, rest: string) =>
    `WITH t AS (SELECT DISTINCT ${list} FROM settlements${rest}) SELECT * FROM t`,
  (list: string, rest: string) =>
    `SELECT w.address, t.* FROM wallets AS w JOIN (SELECT DISTINCT payee AS p, ${list} FROM settlements${rest}) AS t ON t.p = w.address`,
);

describe('a set that is written as groups', () => {
  const isSame = async (
    text: string,
    { judge, sandbox }: { readonly judge: Judge; readonly sandbox: SandboxEngine },
  ) => {
    const ask = (asked: string) => sandbox.guest.explain({ name: 'test', text: asked, maxSeconds: 10 });
    const { text: runs } = await judge.accepted(text);
    expect(runs, text).toMatch(/GROUP BY/);
    expect(await ask(`DESCRIBE (${runs})`), text).toEqual(await ask(`DESCRIBE (${text})`));
    const rows = async (asked: string) => (await ask(asked)).map((row) => JSON.stringify(row)).sort();
    expect(await rows(runs), text).toEqual(await rows(text));
  };

  test('an exact count of different values', async ({ judge, sandbox }) => {
    await fc.assert(
      fc.asyncProperty(columns, condition, counts, forms, (names, rest, count, form) =>
        isSame(form(count(names.join(', ')), rest), { judge, sandbox }),
      ),
      { numRuns: 30 },
    );
  });

  test('a subquery of different rows', async ({ judge, sandbox }) => {
    await fc.assert(
      fc.asyncProperty(columns, condition, lists, (names, rest, form) =>
        isSame(form(names.join(', '), rest), { judge, sandbox }),
      ),
      { numRuns: 30 },
    );
  });
});

describe('what stays as it is', () => {
  test.for([
    'SELECT DISTINCT payer FROM settlements',
    'SELECT * FROM (SELECT DISTINCT payer FROM settlements) LIMIT 10',
    'SELECT count() FROM (SELECT DISTINCT lower(payer) FROM settlements)',
    'SELECT count() FROM (SELECT DISTINCT payer AS payee, payee AS payer FROM settlements)',
    'SELECT count() FROM (SELECT DISTINCT payer FROM settlements ORDER BY payer)',
    'SELECT count() FROM (SELECT DISTINCT payer FROM settlements UNION ALL SELECT payee FROM settlements)',
    'SELECT count() FROM (SELECT DISTINCT s.payer FROM settlements AS s JOIN wallets AS w ON w.address = s.payer)',
    'SELECT count() FROM settlements WHERE payer IN (SELECT DISTINCT payee FROM settlements)',
    'SELECT uniqExact(payer) AS payee FROM settlements',
    'SELECT uniqExact(payer), count() FROM settlements',
    'SELECT chain, uniqExact(payer) FROM settlements GROUP BY chain',
    'SELECT uniqExact(lower(payer)) FROM settlements',
    'SELECT uniqExactIf(payer, is_self_payment) FROM settlements',
    'SELECT payee, (SELECT uniqExact(payer) FROM settlements) AS n FROM settlements',
    'SELECT uniqExact(payer) FROM settlements HAVING count() > 1',
  ])('%s', async (text, { judge }) => {
    const printed = (words: string) => words.replace(/\s/g, '').toLowerCase();
    expect(printed((await judge.accepted(text)).text)).toContain(printed(text).slice(0, 20));
    expect((await judge.accepted(text)).text.match(/GROUP BY/g)?.length ?? 0).toBe(
      text.match(/GROUP BY/g)?.length ?? 0,
    );
  });
});
