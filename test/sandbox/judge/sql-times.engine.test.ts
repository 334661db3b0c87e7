import { describe, expect } from 'vitest';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { test } from '../../kit/fixtures.ts';
import type { Judge } from '../../kit/judge.ts';
import { rollUp } from '../../kit/roll-up.ts';
import { insertSettlements, NOON, settlement } from '../../kit/rows.ts';

/** ISO 8601 times mean what they say wherever a time is compared with them, and the index still serves. */

let judge: Judge;
const ROWS = 40_000;
const FEW_ROWS = 3 * 8_192;
/** A settlement every second from noon on. */
const at = (seconds: number, { offsetHours = 0, tail = 'Z' } = {}): string =>
  new Date((NOON + seconds + offsetHours * 3_600) * 1_000).toISOString().slice(0, 19) + tail;

test.beforeAll(async ({ sandbox: { writer }, judge: ofFile }) => {
  judge = ofFile;
  await insertSettlements(
    writer,
    Array.from({ length: ROWS }, (_, nth) => settlement({ blockNumber: 1_000 + nth, blockTime: NOON + nth })),
  );
  await rollUp(writer);
});

async function run(sql: string, params: Record<string, string> = {}) {
  const { text, parameters } = await judge.accepted(sql, params);
  const { figures, bytes } = await judge.run(text, { parameters: parametersAsSent(parameters, params) });
  return { answer: bytes.toString().trim(), readRows: figures.readRows, text };
}

const count = async (where: string, params: Record<string, string> = {}, table = 'settlements') =>
  Number((await run(`SELECT count() FROM ${table} WHERE ${where}`, params)).answer);

describe('a literal', () => {
  test.each([
    [`block_time < '${at(10)}'`, 10],
    [`'${at(10)}' > block_time`, 10],
    [`block_time = '${at(7)}'`, 1],
    [`block_time != '${at(7)}'`, ROWS - 1],
    [`block_time < '${at(10, { offsetHours: 2, tail: '+02:00' })}'`, 10],
    [`block_time < '${at(10, { tail: '.000Z' })}'`, 10],
    [`block_time < '${at(10, { tail: '.5Z' })}'`, 11],
    [`block_time >= '${at(ROWS - 10, { tail: '.250Z' })}'`, 9],
    [`block_time = '${at(10, { tail: '.5Z' })}'`, 0],
    [`block_time BETWEEN '${at(5)}' AND '${at(9)}'`, 5],
    [`block_time NOT BETWEEN '${at(5)}' AND '${at(9)}'`, ROWS - 5],
    [`block_time IN ('${at(5)}', '${at(9)}')`, 2],
    [`block_time IN ('${at(5)}')`, 1],
    [`block_time NOT IN ['${at(5)}', '${at(9)}']`, ROWS - 2],
    [`(block_time, chain) IN (('${at(5)}', 'eip155:8453'), ('${at(6)}', 'eip155:137'))`, 1],
    [`(block_time, log_index) <= ('${at(5)}', 0)`, 6],
    [`toStartOfMinute(block_time) = '${at(60)}'`, 60],
    [`toDate(block_time) > '2026-11-19T00:00:00Z'`, ROWS],
    [`block_time + INTERVAL 1 HOUR < '${at(3_610)}'`, 10],
    [`block_time < toDateTime('${at(10)}')`, 10],
    [`block_time < '${at(10)}'::DateTime`, 10],
    [`block_time < '${at(10).slice(0, 16)}' + INTERVAL 10 SECOND`, 10],
    [`block_time < '${at(10).replace('T', ' ').slice(0, 19)}'`, 10],
  ])('%s is true of %d rows', async (where, rows) => {
    expect(await count(where)).toBe(rows);
  });

  test('is understood behind aliases, in CTEs, in HAVING, in joins and over wallets', async () => {
    const joined = await run(
      `WITH late AS (SELECT payer, block_time AS t FROM settlements WHERE block_time >= '${at(ROWS - 3)}')
       SELECT count() FROM late JOIN wallet_settlements AS w ON w.wallet = late.payer AND w.block_time = late.t
       WHERE t < '${at(ROWS - 1)}'`,
    );
    expect(joined.answer).toBe('2');
    const having = await run(
      `SELECT log_index, max(block_time) AS newest FROM settlements GROUP BY log_index HAVING newest > '${at(3)}'`,
    );
    expect(having.answer).not.toBe('');
    expect(await count(`day <= '${at(0).slice(0, 10)}T00:00:00Z'`, {}, 'merchant_days')).toBe(1);
  });

  test('that is a text stays one', async () => {
    const text = `SELECT formatDateTime(min(block_time), '%FT%TZ') AS first, first = '${at(0)}', '${at(0)}' FROM settlements`;
    expect((await run(text)).answer).toBe([at(0), 1, at(0)].join('\t'));
  });

  test('reads no more than the engine’s own form', async () => {
    for (const time of [at(10), at(10, { tail: '.5Z' }), at(10).replace('T', ' ').slice(0, 19)]) {
      const { readRows } = await run(`SELECT count() FROM settlements WHERE block_time < '${time}'`);
      expect(readRows, time).toBeLessThanOrEqual(FEW_ROWS);
    }
  });

  test('is shown in the text that ran', async () => {
    const { text } = await run(`SELECT 1 FROM settlements WHERE block_time = '${at(0)}' LIMIT 1`);
    expect(text).toBe("SELECT 1 FROM settlements WHERE block_time = '2026-11-20 12:00:00' LIMIT 1");
  });
});

describe('a parameter', () => {
  test.each([
    ['DateTime', at(10), 10],
    ['DateTime', at(10, { offsetHours: -5, tail: '-05:00' }), 10],
    ['DateTime', at(10, { tail: '.000Z' }), 10],
    ["DateTime('UTC')", at(10), 10],
    ["DateTime('Asia/Tokyo')", at(10), 10],
    ['Nullable(DateTime)', at(10), 10],
    ['DateTime64(3)', at(10, { tail: '.500Z' }), 11],
    ["DateTime64(3, 'UTC')", at(10), 10],
    ['DateTime', '2026-11-20 12:00:10', 10],
    ['DateTime', String(NOON + 10), 10],
    ['Date', '2026-11-21T00:00:00Z', ROWS],
  ])('{t:%s} of %s', async (type, value, rows) => {
    expect(await count(`block_time < {t:${type}}`, { t: value })).toBe(rows);
  });

  test('in a list', async () => {
    expect(
      await count('block_time IN {t:Array(DateTime)}', { t: `['${at(1)}','2026-11-20 12:00:02']` }),
    ).toBe(2);
  });

  test('of another type is sent as it is', async () => {
    expect((await run('SELECT {t:String}', { t: at(1) })).answer).toBe(at(1));
  });

  test('that has a part of a second where none fits is refused with what to write', async () => {
    const refusal = await judge.refused('SELECT {t:DateTime}', { t: at(1, { tail: '.5Z' }) });
    expect(refusal).toMatchObject({ code: 'parameter', near: 't' });
  });
});

describe('CASE and transform, which find no time that is a text', () => {
  test.each([
    `SELECT CASE block_time WHEN '${at(7)}' THEN 1 ELSE 0 END FROM settlements`,
    "SELECT CASE block_time WHEN '2026-11-20 12:00:07' THEN 1 ELSE 0 END FROM settlements",
    "SELECT CASE toDate(block_time) WHEN '2026-11-20' THEN 1 ELSE 0 END FROM settlements",
    "SELECT transform(block_time, ['2026-11-20 12:00:07'], [1], 0) FROM settlements",
  ])('say so: %s', async (sql) => {
    expect(await judge.refused(sql)).toMatchObject({ code: 'type', hint: expect.any(String) });
  });

  test.each([
    ["CASE block_time WHEN toDateTime('2026-11-20 12:00:07') THEN 1 ELSE 0 END", '1'],
    [`CASE WHEN block_time = '${at(7)}' THEN 1 ELSE 0 END`, '1'],
    ["transform(toDate(block_time), [toDate('2026-11-20')], [1], 0)", String(ROWS)],
    [`CASE toString(block_time) WHEN '2026-11-20 12:00:07' THEN 1 ELSE 0 END`, '1'],
  ])('%s', async (expression, answer) => {
    expect((await run(`SELECT sum(${expression}) FROM settlements`)).answer).toBe(answer);
  });
});
