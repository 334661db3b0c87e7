import { describe, expect, test } from 'vitest';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { cleanWords, explainSyntax } from '../../../sandbox/judge/engine-words.ts';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { explainFailure } from '../../../sandbox/run/explain-failure.ts';
import { QUERY_FAILURES, QueryFailed } from '../../../sandbox/sandbox.ts';

/** Texts of engine 26.7.2.1, as it said them to the guest; the last ones as it says them to others. */
describe('the engine’s words lose the parts that callers must not see', () => {
  test.each([
    [
      "Column 'index_public.settlements.payer' is not under aggregate function and not in GROUP BY keys. In query SELECT payer, count() FROM settlements. ",
      "Column 'settlements.payer' is not under aggregate function and not in GROUP BY keys.",
    ],
    [
      "Division by zero: while executing 'FUNCTION intDiv(1_UInt8 :: 1, __table1.log_index :: 0) -> intDiv(1_UInt8, __table1.log_index) UInt8 : 2'. ",
      'Division by zero.',
    ],
    [
      "Cannot convert string 'x' to type Decimal(38, 6): while executing function greater on arguments __table1.amount_usd Decimal(38, 6) Decimal128(size = 0), 'x'_String String Const(size = 0, String(size = 1)). ",
      "Cannot convert string 'x' to type Decimal(38, 6).",
    ],
    [
      'Illegal types String and UInt8 of arguments of function plus: In scope SELECT payer + 1 FROM settlements. ',
      'Illegal types String and UInt8 of arguments of function plus.',
    ],
    [
      'Maximum recursive CTE evaluation depth (1000) exceeded, during evaluation of  t. Consider raising max_recursive_cte_evaluation_depth setting: While executing RecursiveCTESource. ',
      'Maximum recursive CTE evaluation depth (1000) exceeded.',
    ],
    [
      'Unknown data type family: Nope. (UNKNOWN_TYPE) (version 26.7.2.1 (official build))',
      'Unknown data type family: Nope.',
    ],
  ])('%s', (said, words) => {
    expect(cleanWords(said)).toBe(words);
  });

  test.each([
    "guest: Not enough privileges. To execute this query, it's necessary to have the grant SELECT(name) ON system.users",
    'Storage View (table index_public.settlements (5ba7ebba-8bf6-49e8-83d1-e357795c791f)) does not support PREWHERE. ',
    "Limit for rows (controlled by 'max_rows_to_read' setting) exceeded, max rows: 1.00 billion, current rows: 2.00 billion. ",
    "The RANGE OFFSET frame for 'DB::ColumnString' ORDER BY column is not implemented. ",
    'Cannot open file /var/lib/engine/store/5ba/data.bin, errno: 2',
    'Connection refused (127.0.0.1:9000)',
    'Unknown table index_public.secret_view',
    'Cannot read all data from http://10.0.0.7/path',
  ])('of %s nothing is shown', (said) => {
    expect(cleanWords(said)).toBeUndefined();
  });
});

describe('who is at fault', () => {
  const failing = (
    code: number,
    said: string,
    problem: EngineError['problem'] = 'engine_refused',
    functions: readonly string[] = [],
  ) =>
    explainFailure(
      new EngineError(problem, 'run', code, new Error(said)),
      { text: 'SELECT 1', tables: [], functions, warnings: [] },
      null,
    );

  test('a missing right and a refused setting are explained in our words', () => {
    const failure = failing(497, 'guest: Not enough privileges. grant SELECT ON x.y');
    expect(failure).toBeInstanceOf(QueryFailed);
    expect(failure).toMatchObject({ reason: 'unsupported', detail: QUERY_FAILURES.unsupported });
  });

  test('a code that is not listed is `other`, with words only where they are clean', () => {
    expect(failing(9_999, 'Something new happened. ')).toMatchObject({
      reason: 'other',
      detail: 'Something new happened.',
    });
    expect(failing(9_999, 'Something at /var/lib/engine')).toMatchObject({ detail: QUERY_FAILURES.other });
  });

  test.for([
    ['FillingRightJoinSide', [], /the join/, /right/],
    ['DistinctTransform', [], /DISTINCT/, /GROUP BY/],
    ['MergeSortingTransform', [], /ORDER BY/, /LIMIT/],
    ['CreatingSetsTransform', [], /IN \(SELECT/, /JOIN/],
    ['WindowTransform', ['row_number'], /window/, /PARTITION BY/],
    ['AggregatingTransform', ['sum'], /GROUP BY/, /ids/],
    ['AggregatingTransform', ['sum', 'uniqExact'], /uniqExact/, /use uniq/],
    ['AggregatingTransform', ['groupArray'], /groupArray/, /every value/],
  ] as const)(
    'the memory of %s with %s is that of a named operator, with a way that needs less',
    ([step, functions, detail, hint]) => {
      const said = `Query memory limit exceeded: would use 1.00 GiB: While executing ${step}. `;
      expect(failing(241, said, 'memory', functions)).toMatchObject({
        reason: 'memory',
        detail: expect.stringMatching(detail),
        hint: expect.stringMatching(hint),
      });
    },
  );

  test('too much on disk is a reason of its own, though the engine has no code for it', () => {
    const said = 'Limit for temporary files size exceeded (would consume 4295000000 / 4294967296 bytes). ';
    expect(failing(396, said)).toMatchObject({ reason: 'disk', detail: QUERY_FAILURES.disk });
  });

  test('the query’s own memory is the query’s fault, that of the whole engine is not', () => {
    expect(failing(241, 'Query memory limit exceeded: would use 4.01 GiB', 'memory')).toMatchObject({
      reason: 'memory',
    });
    expect(failing(241, '(total) memory limit exceeded: would use 4.01 GiB', 'memory')).toBeInstanceOf(
      EngineError,
    );
    expect(failing(202, 'Too many simultaneous queries', 'overloaded')).toBeInstanceOf(EngineError);
  });
});

test('a syntax error offers what stands there in our dialect, and no clause that is refused', () => {
  const hint = (expected: string) =>
    explainSyntax({ problem: `Syntax error: failed at position 3 (x): x y. Expected ${expected}`, at: 2 });
  expect(hint('one of: BY, SETTINGS, INTO OUTFILE, end of query')).toEqual({
    code: 'syntax',
    detail: 'Syntax error at x.',
    near: 'x',
    hint: 'Expected here: BY, the end.',
  });
  expect(hint('one of: a, b, c, d, e, f, g, h, i').hint).not.toContain(' a, b');
});

describe('values of parameters travel as their type is read', () => {
  test.each([
    ['String', "it's a\\b\t", "it's a\\\\b\\t"],
    ['Array(String)', "['it\\'s']", "['it\\'s']"],
    ['Map(String, UInt8)', "{'a\\'':1}", "{'a\\'':1}"],
    ['Nullable(String)', '\\N', '\\N'],
    ['LowCardinality(Nullable(String))', '\\N', '\\N'],
    ['String', '\\N', '\\\\N'],
  ])('%s: %s', (type, value, sent) => {
    expect(parametersAsSent([{ name: 'p', type }], { p: value })).toEqual({ p: sent });
  });
});
