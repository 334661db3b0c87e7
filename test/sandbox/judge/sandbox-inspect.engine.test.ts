import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { type InspectDeps, inspect, type Verdict } from '../../../sandbox/judge/inspect.ts';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import type { RefusalCode } from '../../../sandbox/judge/refusal.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { test } from '../../kit/fixtures.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** The engine itself is the oracle: nothing here knows SQL but it. */

interface Case {
  readonly id: string;
  readonly class: string;
  readonly sql: string;
  readonly expect?: 'reject' | 'abort';
  /** What a table of the engine would have to have. */
  readonly needs?: string;
}

const casesOf = (name: string): Case[] =>
  readFileSync(new URL(`../../fixtures/sql/sql-${name}-examples.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

let engine: SandboxEngine;
let deps: InspectDeps;

test.beforeAll(async ({ sandbox }) => {
  engine = sandbox;
  deps = { parser: createEngineParser(engine.guest), policy: loadPolicy() };
});

const judge = (text: string, parameters: Record<string, string> = {}): Promise<Verdict> =>
  inspect(text, parameters, deps);

async function refusalOf(
  text: string,
  parameters: Record<string, string> = {},
): Promise<RefusalCode | 'accepted'> {
  const verdict = await judge(text, parameters);
  return 'refused' in verdict ? verdict.refused.code : 'accepted';
}

describe('legitimate questions', () => {
  // SAMPLE has no effect on views, so it is refused (check-clauses.ts).
  const legit = casesOf('legit').filter(({ needs }) => needs !== 'SAMPLE BY in the table');
  test.each(legit.map((one) => [one.id, one.sql]))('%s is accepted, and runs', async (_id, sql) => {
    const verdict = await judge(sql);
    if (!('accepted' in verdict)) throw new Error(JSON.stringify(verdict));
    const { text } = verdict.accepted;
    await expect(engine.guest.explain({ name: 'legit', text, maxSeconds: 10 })).resolves.toBeInstanceOf(
      Array,
    );
  });
});

describe('hostile texts', () => {
  test.each(
    casesOf('hostile')
      .filter((one) => one.expect === 'reject')
      .map((one) => [one.id, one.class, one.sql]),
  )('%s (%s) is refused', async (_id, _class, sql) => {
    expect(await refusalOf(sql)).not.toBe('accepted');
  });
});

/** By attack: what is tried, the text, and the rule that must stop it. */
const ATTACKS: readonly (readonly [string, string, RefusalCode])[] = [
  [
    'a line break in a column pattern forges a line of the tree',
    String.raw`SELECT COLUMNS('a\n  PROJECTION\n') FROM settlements`,
    'identifier',
  ],
  ['the same in EXCEPT', String.raw`SELECT * EXCEPT 'a\nJOIN TREE' FROM settlements`, 'identifier'],
  ['the same in a pattern with LIKE', String.raw`SELECT * LIKE 'x\ny' FROM settlements`, 'identifier'],
  ['the same behind a table', String.raw`SELECT settlements.COLUMNS('x\n') FROM settlements`, 'identifier'],
  [
    'the same in a collation',
    String.raw`SELECT payer FROM settlements ORDER BY payer COLLATE 'en\nX'`,
    'identifier',
  ],
  ['a comma in a name forges an attribute', 'SELECT 1 AS `x, cte_name: secrets`', 'identifier'],
  ['a literal that looks like an alias', `SELECT 'x, alias: wallet_rows' FROM wallet_rows`, 'unknown_table'],
  [
    'a pattern that looks like an alias',
    `SELECT COLUMNS('x, alias: wallet_rows') FROM wallet_rows`,
    'unknown_table',
  ],
  ['a physical table', 'SELECT * FROM index_of_test.settlements', 'unknown_table'],
  ['a table in IN', 'SELECT payer IN wallet_rows FROM settlements', 'unknown_table'],
  ['a table in GLOBAL NOT IN', 'SELECT payer GLOBAL NOT IN system.users FROM settlements', 'unknown_table'],
  ['a table in the function in()', 'SELECT in(payer, system.users) FROM settlements', 'unknown_table'],
  ['a table function in IN', `SELECT payer IN file('/etc/passwd') FROM settlements`, 'table_function'],
  ['a function in APPLY', 'SELECT * APPLY(file) FROM settlements', 'function'],
  ['a function in a lambda in APPLY', 'SELECT * APPLY(x -> file(x)) FROM settlements', 'function'],
  [
    'a function behind a lambda of the same name',
    `WITH x -> x AS file SELECT file('/etc/passwd')`,
    'function',
  ],
  ['a function in a named lambda', `WITH x -> file(x) AS f SELECT f('/etc/passwd')`, 'function'],
  ['a quoted function', "SELECT `file`('/etc/passwd')", 'function'],
  ['a function with a combinator', `SELECT sleepIf(1, 1)`, 'function'],
  ['a name in a string', `SELECT arrayReduce('aggThrow(1)', [1])`, 'function'],
  ['a computed name', `SELECT arrayReduce(concat('su', 'm'), [1])`, 'function'],
  ['a state from bytes', `SELECT CAST('abc' AS AggregateFunction(sum, UInt64))`, 'type'],
  ['a state as a parameter', 'SELECT {p:AggregateFunction(sum, UInt64)}', 'parameter'],
  ['a name as a parameter', 'SELECT * FROM {t:Identifier}', 'parameter'],
  ['SETTINGS in a subquery', 'SELECT * FROM (SELECT 1 SETTINGS readonly = 0)', 'settings'],
  ['SETTINGS in a CTE', 'WITH x AS (SELECT 1 SETTINGS allow_ddl = 1) SELECT * FROM x', 'settings'],
  ['EXPLAIN as a subquery', 'SELECT * FROM (EXPLAIN SELECT 1)', 'table_function'],
  ['view() around anything', 'SELECT * FROM view(SELECT 1)', 'table_function'],
  ['system.one by name', 'SELECT * FROM system.one', 'unknown_table'],
  ['the database by name', 'SELECT currentDatabase', 'function'],
  [
    'the database behind an alias of elsewhere',
    'SELECT currentDatabase, (SELECT 1 AS currentDatabase)',
    'function',
  ],
  ['the database in a list of columns', 'SELECT COLUMNS(DATABASE, chain) FROM settlements', 'function'],
  ['a virtual column', 'SELECT _part FROM settlements', 'virtual_column'],
  ['a virtual column behind a table', 'SELECT s._table FROM settlements AS s', 'virtual_column'],
  ['two statements', 'SELECT 1; DROP TABLE settlements', 'syntax'],
  ['TABLE in disguise', 'TABLE settlements', 'not_select'],
  ['an unclosed text', `SELECT 'abc`, 'syntax'],
  ['a NUL byte', 'SELECT 1\0', 'nul_byte'],
  ['nothing', '  -- only a comment', 'empty'],
  [
    'too many readings of a table',
    `WITH ${Array.from({ length: 8 }, (_, i) => (i === 0 ? 'c0 AS (SELECT payer FROM settlements)' : `c${i} AS (SELECT a.payer FROM c${i - 1} AS a, c${i - 1} AS b)`)).join(', ')} SELECT count() FROM c7`,
    'too_complex',
  ],
];

describe('attacks', () => {
  test.each(ATTACKS)('%s', async (_what, sql, code) => {
    expect(await refusalOf(sql)).toBe(code);
  });

  // The scalar function file() is the known hole of the second wall: only the first one stops it.
  test.each(ATTACKS.filter(([, sql, code]) => /table|function/.test(code) && !/\bfile\b/.test(sql)))(
    '%s stops at the second wall too, or gives nothing away',
    async (_what, sql) => {
      const outcome = await engine.guest
        .explain({ name: 'raw', text: sql, maxSeconds: 5 })
        .catch((error: unknown) => error);
      if (!(outcome instanceof EngineError))
        expect(JSON.stringify(outcome)).not.toMatch(/root:|password|sha256/);
    },
  );
});

describe('what is near an attack and must pass', () => {
  test.each([
    ['a pattern with a doubled backslash', String.raw`SELECT COLUMNS('^pay\\w+$') FROM settlements`],
    ['a line break in a value', String.raw`SELECT splitByChar('\n', payer) FROM settlements`],
    ['a CTE named like a physical table', 'WITH wallet_rows AS (SELECT 1 AS n) SELECT n FROM wallet_rows'],
    [
      'a column named user in a list, by its table',
      'SELECT COLUMNS(t.user, t.n) FROM (SELECT payer AS user, 1 AS n FROM settlements) AS t',
    ],
    [
      'a column named user, by its table',
      'SELECT t.user, count() FROM (SELECT payer AS user FROM settlements) AS t GROUP BY t.user',
    ],
    ['an underscore that the query declares', 'SELECT payer AS _p FROM settlements ORDER BY _p'],
    ['an underscore as an argument', 'SELECT arrayMap(_x -> _x + 1, [1])'],
    ['FROM first', 'FROM settlements SELECT count()'],
    ['a FORMAT at the end', 'SELECT 1 FORMAT JSONEachRow'],
    ['a column called settings', 'SELECT 1 AS settings, settings + 1'],
    ['words without parentheses', 'SELECT now, today, current_date'],
    ['states of our own', 'SELECT uniqMerge(s) FROM (SELECT uniqState(payer) AS s FROM settlements)'],
  ])('%s', async (_what, sql) => {
    expect(await judge(sql)).toHaveProperty('accepted');
  });
});

describe('rows per block', () => {
  test.each([
    [
      'a plain aggregation has the engine’s own blocks',
      65_409,
      'SELECT payee, sum(amount_usd) FROM settlements GROUP BY payee',
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
  ])('%s', async (_what, blockRows, sql) => {
    expect(await judge(sql)).toMatchObject({ accepted: { blockRows } });
  });
});

describe('the answer says where and what instead', () => {
  test('line and column are those of the text as written, counted in characters', async () => {
    const verdict = await judge("SELECT 'é→', -- c\n  hostName()\nFROM settlements");
    expect(verdict).toMatchObject({
      refused: { code: 'function', near: 'hostName', position: { line: 2, column: 3 } },
    });
  });

  test('parameters must be named by both sides', async () => {
    expect(await refusalOf('SELECT {a:UInt8}')).toBe('parameter');
    expect(await refusalOf('SELECT 1', { a: '1' })).toBe('parameter');
    expect(await refusalOf('SELECT {a:UInt8}', { a: '1' })).toBe('accepted');
  });

  test.each([
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
  ])('a value that %s does not hold is refused, and not made another: %s', async (type, value) => {
    expect(await refusalOf(`SELECT {a:${type}}`, { a: value })).toBe('parameter');
  });

  test.each([
    ['UInt8', '255', '255'],
    ['Int8', '-128', '-128'],
    ['UInt256', String(2n ** 256n - 1n), String(2n ** 256n - 1n)],
    ['Nullable(UInt16)', '\\N', null],
    ['Date', '2026-11-20', '2026-11-20'],
    ['DateTime', '2026-11-20 23:59:59', '2026-11-20 23:59:59'],
    ['Array(UInt256)', `['${2n ** 200n}','7']`, `[${2n ** 200n},7]`],
    ['Array(Array(Float64))', "[['1.5'],['-2e3']]", '[[1.5],[-2000]]'],
    ['Array(String)', "['7']", "['7']"],
  ])('a value that %s holds is kept: %s', async (type, value, read) => {
    const verdict = await judge(`SELECT toString({a:${type}})`, { a: value });
    if (!('accepted' in verdict)) throw new Error(JSON.stringify(verdict));
    const { text, parameters } = verdict.accepted;
    const rows = await engine.guest.explain({
      name: 'kept',
      text,
      parameters: parametersAsSent(parameters, { a: value }),
      maxSeconds: 10,
    });
    expect(rows).toEqual([[read]]);
  });

  test.each([
    'SELECT n, finalizeAggregation(u) FROM (SELECT number AS n, sumState(number) AS u FROM numbers(1) GROUP BY n ORDER BY n WITH FILL FROM 0 TO 2 INTERPOLATE (u AS unhex(repeat(hex(1), 8))))',
    "SELECT finalizeAggregation(x) FROM (SELECT sumState(1) AS x UNION ALL SELECT '12345678')",
    "SELECT finalizeAggregation(if(number = 0, sumState(1), '12345678')) FROM numbers(2) GROUP BY number",
  ])('bytes of a caller never become a state: %s', async (sql) => {
    const verdict = await judge(sql);
    if ('refused' in verdict) return expect(verdict.refused.near).toBe('INTERPOLATE');
    const run = engine.guest.explain({ name: 'state', text: verdict.accepted.text, maxSeconds: 10 });
    await expect(run).rejects.toMatchObject({ problem: 'engine_refused', engineCode: 386 });
  });

  test('what a query asks for and does not get is told', async () => {
    const verdict = await judge('SELECT chain, count() FROM settlements GROUP BY chain WITH TOTALS');
    expect(verdict).toMatchObject({ accepted: { warnings: [{ code: 'totals_left_out' }] } });
  });

  test.each([
    'SELECT sum(log_index) OVER w FROM settlements WINDOW w AS (PARTITION BY payee ORDER BY block_time RANGE BETWEEN 604800 PRECEDING AND CURRENT ROW)',
    'SELECT countIf(log_index > 1) OVER (ORDER BY block_time RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW) FROM settlements',
    'SELECT count() AS STREAM FROM settlements',
    'WITH a AS (SELECT payer AS user FROM settlements), b AS (SELECT * FROM a) SELECT b.user FROM b',
    'WITH a AS (SELECT payer AS user FROM settlements), b AS (SELECT payee AS user FROM settlements) SELECT a.user, count() FROM a JOIN b ON a.user = b.user GROUP BY a.user',
    'WITH top AS (SELECT payee FROM settlements ORDER BY block_time DESC LIMIT 9) SELECT indexOf((SELECT groupArray(payee) FROM top), payee) FROM settlements',
  ])('%s is accepted', async (sql) => {
    expect(await refusalOf(sql)).toBe('accepted');
  });

  test.each([
    'SELECT payer AS user, count() FROM settlements GROUP BY user',
    'WITH a AS (SELECT payer AS user FROM settlements), b AS (SELECT * FROM a) SELECT user FROM b',
    'WITH a AS (SELECT payer AS user FROM settlements), b AS (SELECT payee AS user FROM settlements) SELECT count() FROM a JOIN b USING (user)',
    'WITH a AS (SELECT payer AS user FROM settlements) SELECT 1 FROM a JOIN settlements AS b USING (user)',
    'SELECT user FROM (SELECT * EXCEPT (user) FROM (SELECT payer AS user FROM settlements))',
    'SELECT user FROM (SELECT s.* FROM settlements AS s CROSS JOIN (SELECT payer AS user FROM settlements) AS u)',
    'SELECT user FROM (SELECT * FROM settlements)',
    'SELECT user FROM (SELECT * FROM (SELECT payer AS user FROM settlements) AS a CROSS JOIN (SELECT payee AS user FROM settlements) AS b)',
  ])('%s names a refused function without its table', async (sql) => {
    expect(await refusalOf(sql)).toBe('function');
  });

  test('a named window of a function that is not cheap reaches back less far', async () => {
    const over = (call: string) =>
      `SELECT ${call} OVER w, sum(log_index) OVER w FROM settlements WINDOW w AS (ORDER BY block_time RANGE BETWEEN 604800 PRECEDING AND CURRENT ROW)`;
    expect(await refusalOf(over('uniqExact(payer)'))).toBe('too_complex');
    expect(await refusalOf(over('max(log_index)'))).toBe('accepted');
  });

  test('no answer holds a version, a path or a database of ours', async () => {
    for (const sql of ['SELECT FROM', 'SELECT * FROM nothing', 'SELECT nothing(1)', 'SELECT {a:Wrong}']) {
      expect(JSON.stringify(await judge(sql, /\{a/.test(sql) ? { a: '1' } : {}))).not.toMatch(
        /26\.\d|index_of_test|DB::|version|unhex/,
      );
    }
  });
});
