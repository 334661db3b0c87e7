import { describe, expect } from 'vitest';
import { withEdits } from '../../../core/text-edits.ts';
import type { QueryWarning } from '../../../sandbox/judge/literals/constants.ts';
import { docsQuestions } from '../../kit/docs-questions.ts';
import { test } from '../../kit/fixtures.ts';
import { type Judge, type SqlExample, sqlLines } from '../../kit/judge.ts';

/** The edits of a warning, applied to the text that was sent, make a text that is accepted and has no such warning. */

const ADDRESS = `0x${'aB'.repeat(20)}`;

/** Texts with a warning that a service can correct, and what stays of them. */
const CORRECTED: readonly (readonly [string, string])[] = [
  ['SELECT count() FROM settlements FORMAT JSON', 'SELECT count() FROM settlements'],
  ['SELECT count() FROM settlements format CSV;', 'SELECT count() FROM settlements;'],
  ['SELECT count() FROM settlements -- all\nFORMAT JSONEachRow', 'SELECT count() FROM settlements -- all\n'],
  ['SELECT count() FROM settlements SETTINGS max_threads = 1', 'SELECT count() FROM settlements'],
  [
    'SELECT count() FROM settlements settings max_threads = 1, max_execution_time = 3, max_block_size = 9 -- end',
    'SELECT count() FROM settlements SETTINGS max_execution_time = 3 -- end',
  ],
  [
    'SELECT count() FROM settlements PREWHERE amount_usd > 1',
    'SELECT count() FROM settlements WHERE amount_usd > 1',
  ],
  [
    'SELECT count() FROM settlements prewhere amount_usd > 1 OR amount_usd < 0 where amount_usd > 2 GROUP BY payee;',
    'SELECT count() FROM settlements WHERE ( amount_usd > 1 OR amount_usd < 0 ) AND ( amount_usd > 2) GROUP BY payee;',
  ],
  [
    'SELECT payee, count() FROM settlements GROUP BY payee with totals ORDER BY payee',
    'SELECT payee, count() FROM settlements GROUP BY payee with ROLLUP ORDER BY payee',
  ],
  [
    "SELECT count() FROM settlements WHERE chain = 'base' OR chain IN ('base', 'eip155:137')",
    "SELECT count() FROM settlements WHERE chain = 'eip155:8453' OR chain IN ('eip155:8453', 'eip155:137')",
  ],
  [
    `SELECT count() FROM settlements WHERE payer = '${ADDRESS}'`,
    `SELECT count() FROM settlements WHERE payer = '${ADDRESS.toLowerCase()}'`,
  ],
  [
    'SELECT lag(log_index + 1) OVER (ORDER BY block_time), lag(block_time, 2) OVER (ORDER BY block_time) FROM settlements',
    'SELECT lag(toNullable(log_index + 1)) OVER (ORDER BY block_time), lag(toNullable(block_time), 2) OVER (ORDER BY block_time) FROM settlements',
  ],
  [
    "SELECT max(block_time), min(amount), MAX(amount) FROM settlements WHERE payer = ''",
    "SELECT maxOrNull(block_time), minOrNull(amount), maxOrNull(amount) FROM settlements WHERE payer = ''",
  ],
  [
    'SELECT toDate(block_time) AS block_time, count() FROM settlements GROUP BY block_time -- days',
    'SELECT toDate(block_time) AS block_time, count() FROM settlements GROUP BY block_time SETTINGS prefer_column_name_to_alias = 1 -- days',
  ],
  [
    'SELECT lower(payee) AS payee FROM settlements WHERE payee = payer SETTINGS max_execution_time = 3;',
    'SELECT lower(payee) AS payee FROM settlements WHERE payee = payer SETTINGS prefer_column_name_to_alias = 1, max_execution_time = 3;',
  ],
  [
    'SELECT lower(payee) AS payee FROM settlements WHERE payee = payer FORMAT JSON',
    'SELECT lower(payee) AS payee FROM settlements WHERE payee = payer SETTINGS prefer_column_name_to_alias = 1',
  ],
];

/** All edits of a text at once. */
function corrected(sql: string, warnings: readonly QueryWarning[]): string {
  return withEdits(
    sql,
    warnings.flatMap(({ edits = [] }) => edits),
  );
}

/** After the edits of each warning that warning is gone, and after all of them every one that had some. */
async function proveEdits(sql: string, { accepted }: Pick<Judge, 'accepted'>): Promise<number> {
  const { warnings } = await accepted(sql);
  const keyOf = ({ code, near, message }: QueryWarning): string => `${code} ${near} ${message}`;
  const correctable = warnings.filter(({ edits }) => edits !== undefined);
  for (const warning of correctable) {
    const after = await accepted(withEdits(sql, warning.edits ?? []));
    expect(after.warnings.map(keyOf), sql).not.toContain(keyOf(warning));
  }
  const { warnings: left } = await accepted(corrected(sql, warnings));
  expect(left.filter(({ edits }) => edits !== undefined).map(keyOf), sql).toEqual([]);
  return correctable.length;
}

/** Every line of the corpora that the first wall accepts without parameters. */
const CORPUS: readonly string[] = [
  ...['differing', 'clickbench-shaped', 'legit-more', 'sql-legit-examples', 'near-attacks'].flatMap((name) =>
    sqlLines<SqlExample>(name).flatMap(({ sql, params }) => (params === undefined ? [sql] : [])),
  ),
  ...docsQuestions().map(({ sql }) => sql),
];

describe('the edits of a warning', () => {
  test.for(CORRECTED)('%s', async ([sql, wanted], { judge }) => {
    const { warnings } = await judge.accepted(sql);
    expect(corrected(sql, warnings)).toBe(wanted);
    expect(await proveEdits(sql, judge)).toBeGreaterThan(0);
  });

  test('hold for every text of the corpus, before which a comment with astral characters and CRLF stands as well', async ({
    judge,
  }) => {
    let correctable = 0;
    for (const sql of CORPUS) {
      const verdict = await judge.verdict(sql);
      if (!('accepted' in verdict)) continue;
      const found = await proveEdits(sql, judge);
      if (found === 0) continue;
      correctable += found;
      const moved = `/* 😀 – é */\r\n-- 𝒂\r\n${sql.replaceAll('\n', '\r\n')}`;
      expect(await proveEdits(moved, judge), moved).toBe(found);
    }
    expect(correctable).toBeGreaterThan(30);
  });

  test('count UTF-16 units, behind characters of two and in texts between comments', async ({ judge }) => {
    const sql =
      "SELECT '😀😀' AS a, /* 'base' 😀 */ count()\r\nFROM settlements -- é\r\nWHERE chain = 'base'";
    const [warning] = (await judge.accepted(sql)).warnings;
    const at = sql.lastIndexOf("'base'");
    expect(warning?.edits).toEqual([{ from: at, to: at + 6, text: "'eip155:8453'" }]);
  });

  test('are none where the caller has to decide', async ({ judge }) => {
    for (const sql of [
      // A text that also stands where no column is compared.
      "SELECT 'base' AS name FROM settlements WHERE chain = 'base'",
      "SELECT count() FROM settlements WHERE payer = 'alice'",
      'SELECT amount_usd::numeric FROM settlements',
    ]) {
      const { warnings } = await judge.accepted(sql);
      expect(warnings.length, sql).toBeGreaterThan(0);
      expect(
        warnings.flatMap(({ edits = [] }) => edits),
        sql,
      ).toEqual([]);
    }
  });
});

describe('a text that reads less', () => {
  const rewritten = async (judge: Judge, sql: string, which: 'lastDays' | 'ids' | 'limit') => {
    const edits = (await judge.accepted(sql)).rewrites[which];
    if (edits === null) return null;
    const text = withEdits(sql, edits);
    await judge.accepted(text);
    return text;
  };

  test('has a condition on time, and keeps an OR together', async ({ judge }) => {
    for (const [sql, wanted] of [
      [
        'SELECT payee FROM settlements WHERE amount_usd > 1 or amount_usd < 0 GROUP BY payee',
        'SELECT payee FROM settlements WHERE block_time >= now() - INTERVAL 30 DAY AND (amount_usd > 1 or amount_usd < 0) GROUP BY payee',
      ],
      [
        'SELECT 1 FROM merchant_days -- days\n;',
        'SELECT 1 FROM merchant_days WHERE day >= today() - 30 -- days\n;',
      ],
      ['SELECT 1 FROM settlements AS a JOIN settlements AS b USING (payee)', null],
      ['SELECT 1 FROM settlements AS a, settlements AS b', null],
      ['SELECT 1 FROM (SELECT payee FROM settlements)', null],
    ] as const)
      expect(await rewritten(judge, sql, 'lastDays'), sql).toBe(wanted);
  });

  test('counts and groups by ids, and looks one address of each group up', async ({ judge }) => {
    for (const [sql, wanted] of [
      [
        'SELECT payee, uniq(payer) AS n FROM settlements GROUP BY payee ORDER BY payee',
        'SELECT any(payee) AS payee, uniq(payer_id) AS n FROM settlements GROUP BY payee_id ORDER BY payee',
      ],
      [
        'SELECT payee AS shop, count(DISTINCT payer) FROM settlements GROUP BY payee',
        'SELECT any(payee) AS shop, count(DISTINCT payer_id) FROM settlements GROUP BY payee_id',
      ],
      // Each of these would fail, or mean something else.
      ["SELECT payee FROM settlements WHERE payee != '' GROUP BY payee", null],
      ['SELECT lower(payee) FROM settlements GROUP BY payee', null],
      ['SELECT payee AS shop FROM settlements GROUP BY payee ORDER BY payee', null],
    ] as const) {
      const text = await rewritten(judge, sql, 'ids');
      expect(text, sql).toBe(wanted);
      if (text === null) continue;
      expect((await judge.accepted(text)).walletKeys, sql).toEqual([]);
      await judge.rows(text);
    }
  });

  test('has a LIMIT where it lists rows and has none, before what stands last', async ({ judge }) => {
    for (const [sql, wanted] of [
      [
        'SELECT payer FROM settlements ORDER BY payer SETTINGS max_execution_time = 3',
        'SELECT payer FROM settlements ORDER BY payer LIMIT 1000 SETTINGS max_execution_time = 3',
      ],
      ['SELECT payer FROM settlements;', 'SELECT payer FROM settlements LIMIT 1000;'],
      [
        'SELECT payer, sum(amount_usd) OVER (ORDER BY block_time) FROM settlements',
        'SELECT payer, sum(amount_usd) OVER (ORDER BY block_time) FROM settlements LIMIT 1000',
      ],
      ['SELECT payer FROM settlements LIMIT 5', null],
      ['SELECT payer FROM settlements GROUP BY payer', null],
      ['SELECT count() FROM settlements', null],
    ] as const)
      expect(await rewritten(judge, sql, 'limit'), sql).toBe(wanted);
  });

  test('of the corpus is accepted, whichever of them is chosen', async ({ judge }) => {
    for (const sql of CORPUS) {
      const verdict = await judge.verdict(sql);
      if (!('accepted' in verdict)) continue;
      for (const edits of Object.values(verdict.accepted.rewrites))
        if (edits !== null) await judge.accepted(withEdits(sql, edits));
    }
  });
});

describe('the edits of a refusal', () => {
  test.for([
    [
      "SELECT settlment.payer, 'settlment' FROM settlment",
      "SELECT settlment.payer, 'settlment' FROM settlements",
    ],
    [
      'SELECT payerr /* payerr */ FROM settlements ORDER BY payerr',
      'SELECT payer /* payerr */ FROM settlements ORDER BY payer',
    ],
    [
      'SELECT sumif(amount_usd, amount_usd > 1) FROM settlements',
      'SELECT sumIf(amount_usd, amount_usd > 1) FROM settlements',
    ],
  ] as const)('%s', async ([sql, wanted], { judge }) => {
    const { edits } = await judge.refused(sql);
    expect(withEdits(sql, edits ?? [])).toBe(wanted);
  });
});
