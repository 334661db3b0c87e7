import { describe, expect } from 'vitest';
import { test } from '../../kit/fixtures.ts';

/** The engine itself is the oracle: nothing here knows SQL but it. Attacks are in `test/attacks`. */

describe('rows per block', () => {
  test.for([
    [
      'a plain aggregation has the engine’s own blocks',
      65_409,
      'SELECT payee, sum(amount_usd) FROM settlements GROUP BY payee',
    ],
    [
      'so has a count of all columns',
      65_409,
      'SELECT payer, payee, COUNT(*) AS c FROM settlements GROUP BY payer, payee ORDER BY c DESC, payer LIMIT 10',
    ],
    [
      'a pattern over addresses has a quarter',
      16_352,
      "SELECT REGEXP_REPLACE(payee, '^0x(0*)([0-9a-f]+)[0-9a-f]$', '\\\\2') AS k, count() FROM settlements GROUP BY k",
    ],
    ['long values have smaller ones', 8_192, "SELECT repeat('x', 2000) FROM numbers(9)"],
    [
      'a frame that moves has smaller ones',
      8_192,
      'SELECT sum(number) OVER (ORDER BY number ROWS BETWEEN 7 PRECEDING AND CURRENT ROW) FROM numbers(9)',
    ],
    [
      'a long frame that moves has small ones',
      256,
      'SELECT sum(number) OVER (ORDER BY number ROWS BETWEEN 5000 PRECEDING AND CURRENT ROW) FROM numbers(9)',
    ],
  ] as const)('%s', async ([, blockRows, sql], { judge }) => {
    expect(await judge.accepted(sql)).toMatchObject({ blockRows });
  });
});

describe('the answer says where and what instead', () => {
  test('line and column count characters of the text as written', async ({ judge }) => {
    const verdict = await judge.verdict("SELECT 'é→', -- c\n  hostName()\nFROM settlements");
    expect(verdict).toMatchObject({
      refused: { code: 'function', near: 'hostName', position: { line: 2, column: 3 } },
    });
  });

  test('parameters must be named by both sides', async ({ judge }) => {
    expect(await judge.codeOf('SELECT {a:UInt8}')).toBe('parameter');
    expect(await judge.codeOf('SELECT 1', { a: '1' })).toBe('parameter');
    expect(await judge.codeOf('SELECT {a:UInt8}', { a: '1' })).toBe('accepted');
  });

  test.for([
    ['UInt8', '256'],
    ['Int8', '200'],
    ['Int8', '-129'],
    ['UInt64', '18446744073709551616'],
    ['UInt256', String(2n ** 256n)],
    ['Nullable(UInt16)', '-1'],
    ['Date', '2026-13-01'],
    ['Date', '2026-02-30'],
    ['Date', '1969-12-31'],
    ['DateTime', '2026-11-20 25:00:00'],
    ["DateTime64(3, 'UTC')", '2026-00-10 10:00:00'],
    ['String', '\\N'],
  ])(
    'a value that %s does not hold is refused, and not made another: %s',
    async ([type, value = ''], { judge }) => {
      expect(await judge.codeOf(`SELECT {a:${type}}`, { a: value })).toBe('parameter');
    },
  );

  test.for([
    ['UInt8', '255', '255'],
    ['Int8', '-128', '-128'],
    ['UInt256', String(2n ** 256n - 1n), String(2n ** 256n - 1n)],
    ['Nullable(UInt16)', '\\N', null],
    ['Date', '2026-11-20', '2026-11-20'],
    ['DateTime', '2026-11-20 23:59:59', '2026-11-20 23:59:59'],
    ['Array(UInt256)', `['${2n ** 200n}','7']`, `[${2n ** 200n},7]`],
    ['Array(Array(Float64))', "[['1.5'],['-2e3']]", '[[1.5],[-2000]]'],
    ['Array(String)', "['7']", "['7']"],
  ] as const)('a value that %s holds is kept: %s', async ([type, value, read], { judge }) => {
    const rows = await judge.rows(`SELECT toString({a:${type}})`, { a: value });
    expect(rows).toEqual([[read]]);
  });

  test.for([
    'SELECT n, finalizeAggregation(u) FROM (SELECT number AS n, sumState(number) AS u FROM numbers(1) GROUP BY n ORDER BY n WITH FILL FROM 0 TO 2 INTERPOLATE (u AS unhex(repeat(hex(1), 8))))',
    "SELECT finalizeAggregation(x) FROM (SELECT sumState(1) AS x UNION ALL SELECT '12345678')",
    "SELECT finalizeAggregation(if(number = 0, sumState(1), '12345678')) FROM numbers(2) GROUP BY number",
  ])('bytes of a caller never become a state: %s', async (sql, { judge }) => {
    const verdict = await judge.verdict(sql);
    if ('refused' in verdict) return expect(verdict.refused.near).toBe('INTERPOLATE');
    await expect(judge.rows(sql)).rejects.toMatchObject({ problem: 'engine_refused', engineCode: 386 });
  });

  test('a clause that is left out of the query is warned of', async ({ judge }) => {
    const verdict = await judge.verdict('SELECT chain, count() FROM settlements GROUP BY chain WITH TOTALS');
    expect(verdict).toMatchObject({ accepted: { warnings: [{ code: 'totals_left_out' }] } });
  });

  test('a named window of a function that is not cheap reaches back less far', async ({ judge }) => {
    const over = (call: string) =>
      `SELECT ${call} OVER w, sum(log_index) OVER w FROM settlements WINDOW w AS (ORDER BY block_time RANGE BETWEEN 604800 PRECEDING AND CURRENT ROW)`;
    expect(await judge.codeOf(over('uniqExact(payer)'))).toBe('too_complex');
    expect(await judge.codeOf(over('max(log_index)'))).toBe('accepted');
  });

  test('no answer holds a version, a path or a database of ours', async ({ judge }) => {
    for (const sql of ['SELECT FROM', 'SELECT * FROM nothing', 'SELECT nothing(1)', 'SELECT {a:Wrong}']) {
      expect(JSON.stringify(await judge.verdict(sql, /\{a/.test(sql) ? { a: '1' } : {}))).not.toMatch(
        /26\.\d|index_of_test|DB::|version|unhex/,
      );
    }
  });
});
