import { describe, expect } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { type InspectDeps, inspect } from '../../../sandbox/judge/inspect.ts';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../../../sandbox/judge/refusal.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { explainFailure } from '../../../sandbox/run/explain-failure.ts';
import { QueryFailed, type QueryFailure } from '../../../sandbox/sandbox.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, insertSettlements, reportChain, settlement, wallet } from '../../kit/rows.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** What a caller reads when a query is not run, or does not end: what, where, what instead, and nothing of ours. */

let engine: SandboxEngine;
let deps: InspectDeps;

test.beforeAll(async ({ sandbox }) => {
  engine = sandbox;
  deps = { parser: createEngineParser(engine.guest), policy: loadPolicy() };
  await reportChain(engine.writer, BASE);
  await insertSettlements(
    engine.writer,
    Array.from({ length: 50 }, (_, at) =>
      settlement({ blockNumber: at, logIndex: at % 3, payer: wallet(at), amount: 2n ** 250n }),
    ),
  );
});

/** Physical names, internal aliases, rights, settings, versions, paths. */
const OURS =
  /index_of_test|_public|__table|DB::|\bguest\b|\bwriter\b|privileges|\bsetting\b|max_(?!qu)\w+|unhex|26\.\d|version|\/tmp|:\d{4}\b/i;

async function refusalOf(sql: string, params: Record<string, string> = {}): Promise<Refusal> {
  const verdict = await inspect(sql, params, deps);
  if ('accepted' in verdict) throw new Error(`accepted: ${verdict.accepted.text}`);
  return verdict.refused;
}

const at = (column: number, line = 1) => ({ line, column });

/** The text, the rule, and what the answer says at least. */
const REFUSED: readonly (readonly [string, RefusalCode, Partial<Refusal>, Record<string, string>?])[] = [
  ['', 'empty', {}],
  ['-- nothing', 'empty', {}],
  [`SELECT '${'x'.repeat(65_536)}'`, 'too_long', {}],
  ['SELECT 1\0', 'nul_byte', {}],
  ['SELECT a b c FROM settlements', 'syntax', { near: 'c', position: at(12) }],
  [
    'SELECT payer\nFROM settlements GROUP payer',
    'syntax',
    { near: 'payer', position: at(24, 2), hint: 'Expected here: BY, the end.' },
  ],
  ['SELECT (1', 'syntax', { position: at(8), detail: 'A bracket has no partner.' }],
  ["SELECT 'abc", 'syntax', { position: at(8), detail: 'A quoted text is not closed.' }],
  ['SELECT 1; SELECT 2', 'syntax', { detail: 'The text holds more than one statement.' }],
  [
    'SELECT * FROM settlements WHERE',
    'syntax',
    { detail: 'The text ends too early.', hint: 'Expected here: an expression.' },
  ],
  ['SELEC payer', 'not_select', { near: 'SELEC', position: at(1), hint: 'Did you mean SELECT?' }],
  [
    'EXPLAIN SELECT 1',
    'not_select',
    { near: 'EXPLAIN', hint: 'Send the SELECT itself with `explain_only`.' },
  ],
  ['SHOW TABLES', 'not_select', { near: 'SHOW', hint: expect.stringContaining('/v0/sql/schema') }],
  ['INSERT INTO settlements VALUES (1)', 'not_select', { near: 'INSERT', position: at(1) }],
  [
    "SELECT 1 INTO OUTFILE 'x'",
    'forbidden_clause',
    { position: at(10), hint: expect.stringContaining('`format`') },
  ],
  [
    'SELECT 1 FORMAT Null',
    'forbidden_clause',
    { near: 'Null', position: at(17), hint: expect.stringContaining('`format`') },
  ],
  [
    'SELECT count() * 10 FROM settlements AS s SAMPLE 1/10 OFFSET 1/2',
    'forbidden_clause',
    { near: 'SAMPLE', position: at(43), hint: expect.stringContaining('cityHash64(payer) % 10 = 0') },
  ],
  [
    'SELECT payer, sum(amount_usd) OVER (ORDER BY block_time RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM settlements',
    'forbidden_clause',
    { near: 'RANGE', position: at(57), hint: expect.stringContaining('RANGE BETWEEN 86400 PRECEDING') },
  ],
  [
    'SELECT count() OVER (ORDER BY block_time RANGE BETWEEN CURRENT ROW AND INTERVAL 2 HOUR FOLLOWING) FROM settlements',
    'forbidden_clause',
    { near: 'RANGE', hint: expect.stringContaining('7200') },
  ],
  [
    'SELECT count() OVER (ORDER BY block_time ROWS BETWEEN INTERVAL 2 HOUR PRECEDING AND CURRENT ROW) FROM settlements',
    'forbidden_clause',
    { near: 'ROWS', hint: expect.stringContaining('ROWS counts rows') },
  ],
  [
    'SELECT 1 SETTINGS join_use_nulls = 0',
    'settings',
    { near: 'join_use_nulls', position: at(19), hint: expect.stringMatching(/`tier`.*`max_rows`.*`format`/) },
  ],
  ['SELECT `a,b` FROM settlements', 'identifier', { near: '`a,b`', position: at(8) }],
  ['SELECT {a:UInt8}', 'parameter', { near: 'a', position: at(9) }],
  ['SELECT {a:Identifier}', 'parameter', { near: 'a', position: at(9) }, { a: 'payer' }],
  [
    'SELECT {a:UInt8}',
    'parameter',
    { near: 'a', position: at(9), detail: 'The value of a in params cannot be read as UInt8.' },
    { a: 'x' },
  ],
  [
    'SELECT 1',
    'parameter',
    { detail: 'params has a, but the query has no placeholder {a:Type}.' },
    { a: 'x' },
  ],
  [
    'SELECT 1 FROM setlements',
    'unknown_table',
    { near: 'setlements', position: at(15), hint: 'Did you mean settlements?' },
  ],
  [
    'SELECT 1 FROM default.agents',
    'unknown_table',
    { hint: 'Write agents: public tables are named without a database.' },
  ],
  [
    'SELECT 1 FROM system.numbers',
    'unknown_table',
    { position: at(15), hint: expect.stringContaining('numbers(n)') },
  ],
  ['SELECT 1 FROM nothing_like_it', 'unknown_table', { hint: expect.stringContaining('wallet_settlements') }],
  [
    'SELECT * FROM zeros(3)',
    'table_function',
    { near: 'zeros', position: at(15), hint: 'Write numbers(n).' },
  ],
  [
    "SELECT * FROM url('http://x')",
    'table_function',
    { hint: 'Available: numbers, values, generateSeries, generate_series.' },
  ],
  ['SELECT counIf(1)', 'function', { near: 'counIf', position: at(8), hint: 'Did you mean countIf?' }],
  ['SELECT totypename(1)', 'function', { hint: 'Did you mean toTypeName?' }],
  ['SELECT nvl(1, 2)', 'function', { hint: 'Here it is ifNull.' }],
  ['SELECT hostName()', 'function', { near: 'hostName', position: at(8) }],
  ['SELECT @@version', 'function', { position: at(8) }],
  ['SELECT user', 'function', { near: 'user', position: at(8) }],
  ['SELECT _part FROM settlements', 'virtual_column', { near: '_part', position: at(8) }],
  ["SELECT CAST('x', 'AggregateFunction(sum, UInt64)')", 'type', { position: at(18) }],
  [
    'SELECT payer,\n  payr FROM settlements',
    'unknown_column',
    {
      near: 'payr',
      position: at(3, 2),
      detail: 'There is no column payr where it is named.',
      hint: expect.stringMatching(/^Did you mean payer\? settlements has chain, block_number/),
      meant: 'payer',
    },
  ],
  [
    'SELECT s.payer, s.payr FROM settlements AS s',
    'unknown_column',
    { near: 's.payr', position: at(17), meant: 's.payer' },
  ],
  [
    'SELECT settlements.zzz FROM settlements',
    'unknown_column',
    { near: 'settlements.zzz', hint: expect.stringMatching(/^settlements has chain, block_number/) },
  ],
  [
    'SELECT usd FROM (SELECT sum(amount_usd) AS usdd FROM settlements)',
    'unknown_column',
    { near: 'usd', position: at(8), meant: 'usdd' },
  ],
  [
    'SELECT w.role, a.nam FROM wallet_settlements AS w JOIN agents AS a ON a.wallet = w.wallet',
    'unknown_column',
    { near: 'a.nam', hint: expect.stringMatching(/^Did you mean name\? agents has chain, agent_id/) },
  ],
  [
    'SELECT count() FROM settlements WHERE chain = "base"',
    'unknown_column',
    {
      near: '"base"',
      position: at(47),
      hint: "Texts stand in single quotes: 'base'.",
      meant: "'base'",
    },
  ],
  [
    'SELECT count() FROM settlements WHERE chain = "eip155:137"',
    'unknown_column',
    { position: at(47), meant: "'eip155:137'" },
  ],
  [
    'SELECT count() FROM settlements WHERE block_time > "2026-11-01 00:00:00"',
    'unknown_column',
    { position: at(52), meant: "'2026-11-01 00:00:00'" },
  ],
  [
    `SELECT ${Array.from({ length: 33 }, () => '(SELECT count() FROM settlements AS a, settlements AS b)').join('+')}`,
    'too_complex',
    {},
  ],
];

describe('a refusal says what, where, and what to write instead', () => {
  test.each(
    REFUSED.map(([sql, code, said, params]) => [sql.slice(0, 60), code, { sql, said, params }] as const),
  )('%j is %s', async (_shown, code, { sql, said, params }) => {
    const refusal = await refusalOf(sql, params);
    expect(refusal).toMatchObject({ code, ...said });
    expect(refusal.detail).toMatch(/\S.*\.$/s);
    expect(refusal.hint).toMatch(/\S.*[.?]$/s);
    if (refusal.near !== undefined) expect(refusal.position).toBeDefined();
    // The caller's own word may be anything.
    const { near = '', ...rest } = refusal;
    expect(JSON.stringify(rest).replaceAll(near, '')).not.toMatch(
      code === 'settings' ? /index_of_test|_public/ : OURS,
    );
  });

  test('every rule was seen to refuse, save the one for what nobody has thought of', () => {
    const seen = new Set(REFUSED.map(([, code]) => code));
    expect(Object.keys(REFUSALS).filter((code) => !seen.has(code as RefusalCode))).toEqual(['unexplained']);
  });
});

test('what has no effect is accepted, with a warning', async () => {
  const warningsOf = async (sql: string) => {
    const verdict = await inspect(sql, {}, deps);
    return 'accepted' in verdict ? verdict.accepted.warnings.map(({ code }) => code) : verdict.refused;
  };
  expect(await warningsOf('SELECT 1 FORMAT JSON')).toEqual(['format_ignored']);
  expect(await warningsOf('SELECT 1 SETTINGS max_threads = 8')).toEqual(['settings_left_out']);
  expect(await warningsOf('SELECT 1 SETTINGS max_result_rows = 8')).toEqual([]);
  expect(await warningsOf('SELECT payer FROM settlements PREWHERE 1')).toEqual(['prewhere_as_where']);
  expect(await warningsOf('SELECT count() FROM settlements;')).toEqual([]);
});

/** Accepted texts that the engine refuses while they run; `%` stands for any words. */
const FAILING: readonly (readonly [string, QueryFailure, string, string?])[] = [
  [
    "SELECT toDate(block_time) = '2026-11-20T12:00:00Z' FROM settlements",
    'type_error',
    "Cannot convert string '2026-11-20T12:00:00Z' to type Date.",
    "A day is written '2026-11-20'%",
  ],
  [
    "SELECT 1 FROM settlements WHERE block_time < '2026-11-20T12:00:00Z' AND payer != '2026-11-20T12:00:00Z'",
    'type_error',
    'Cannot convert string%',
    '%toDateTime%',
  ],
  // A column of a table that is read, though not here: the engine knows what is in sight.
  ['SELECT chain FROM (SELECT payer FROM settlements)', 'unknown_column', '%chain where%', '%'],
  [
    'SELECT payer, count() FROM settlements',
    'not_grouped',
    "Column 'settlements.payer' is not under aggregate function and not in GROUP BY keys.",
    '%GROUP BY%',
  ],
  ['SELECT sum(sum(log_index)) FROM settlements', 'not_grouped', '%inside another aggregate function%', '%'],
  [
    'SELECT payer + 1 FROM settlements',
    'type_error',
    'Illegal types String and UInt8 of arguments of function plus.',
    '%',
  ],
  ['SELECT chain = 5 FROM settlements', 'type_error', 'There is no supertype for types String, UInt8%', '%'],
  [
    "SELECT amount_usd > 'x' FROM settlements",
    'type_error',
    "Cannot convert string 'x' to type Decimal(38, 6).",
    '%',
  ],
  [
    'SELECT toUInt8(payer) FROM settlements',
    'value_error',
    'Cannot parse string%',
    'Use toUInt8OrZero or toUInt8OrNull, which do not fail.',
  ],
  ['SELECT intDiv(1, log_index) FROM settlements', 'value_error', 'Division by zero.', '%nullIf%'],
  [
    'SELECT toDecimal32(amount_usd * 1000000000000, 6) FROM settlements',
    'value_error',
    'Decimal convert overflow%',
    '%',
  ],
  ["SELECT match(payer, '(') FROM settlements", 'value_error', 'cannot compile re2: %', '%'],
  ['SELECT 1 AS a, 2 AS a, a', 'duplicate_columns', '%', 'Give each column a name of its own with AS.'],
  [
    'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count() FROM t',
    'too_complex',
    'Maximum recursive CTE evaluation depth%',
    '%',
  ],
  ['SELECT number FROM numbers(100000000000) WHERE sin(number) > 2', 'rows_read', '%', '%merchant_days%'],
  [
    'SELECT groupArray(number) FROM numbers(200000000)',
    'memory',
    'It needed more memory than a query may use.',
    '%',
  ],
  [
    'SELECT count() FROM numbers(900000000) WHERE sin(sin(sin(number))) > 2',
    'timeout',
    'It ran longer than its tier, or its `max_qu`, allows.',
    '%`tier`%',
  ],
];

const pattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split('%')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}$`,
    's',
  );

describe('a failure says why, in words that are nobody else’s', () => {
  test.each(FAILING.map(([sql, reason, detail, hint]) => ({ sql, reason, detail, hint })))(
    '$sql: $reason',
    async ({ sql, reason, detail, hint }) => {
      const verdict = await inspect(sql, {}, deps);
      if (!('accepted' in verdict)) throw new Error(JSON.stringify(verdict));
      const { text, parameters } = verdict.accepted;
      const error = await engine.guest
        .explain({
          name: 'failing',
          text,
          parameters: parametersAsSent(parameters, {}),
          maxSeconds: reason === 'timeout' ? 1 : 10,
        })
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      if (!(error instanceof EngineError)) throw new Error('it did not fail');
      const failure = explainFailure(error, verdict.accepted, null);
      if (!(failure instanceof QueryFailed)) throw failure;
      expect(failure.reason).toBe(reason);
      expect(failure.detail).toMatch(pattern(detail));
      if (hint !== undefined) expect(failure.hint).toMatch(pattern(hint));
      expect(`${failure.detail} ${failure.hint}`).not.toMatch(OURS);
    },
  );
});
