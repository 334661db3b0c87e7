import { describe, expect } from 'vitest';
import { PUBLIC_TABLE_NAMES } from '../../../core/domain/public-tables.ts';
import { type Accepted, type InspectDeps, inspect } from '../../../sandbox/judge/inspect.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, hash, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** A query whose answer differs from standard SQL carries a warning, and what the warning proposes gives the standard's answer. */

let engine: SandboxEngine;
let deps: InspectDeps;

test.beforeAll(async ({ sandbox }) => {
  engine = sandbox;
  deps = { parser: createEngineParser(engine.guest), policy: loadPolicy() };
  await insertSettlements(
    engine.writer,
    [1, 2, 3, 4].map((place) => settlement({ txHash: hash(place) })),
  );
  await reportChain(engine.writer, BASE);
});

async function accepted(sql: string): Promise<Accepted> {
  const verdict = await inspect(sql, {}, deps);
  if (!('accepted' in verdict)) throw new Error(`${sql}: ${JSON.stringify(verdict)}`);
  return verdict.accepted;
}

async function rowsOf(sql: string): Promise<readonly unknown[]> {
  const { text } = await accepted(sql);
  return engine.guest.explain({ name: 'difference', text, maxSeconds: 30 });
}

const NONE = "FROM settlements WHERE payer = '0x0000000000000000000000000000000000000000'";
const LAG = 'OVER (ORDER BY block_time)';

/** A query, the code, what it is about, and the replacement; of `empty_is_not_null` the last column of the first row is then NULL. */
const WARNED: readonly (readonly [string, string, string, string?])[] = [
  [
    `SELECT lag(block_time) ${LAG} FROM settlements LIMIT 1`,
    'empty_is_not_null',
    'block_time',
    'toNullable(block_time)',
  ],
  [
    `SELECT lead(amount_usd, 9) ${LAG} FROM settlements LIMIT 1`,
    'empty_is_not_null',
    'amount_usd',
    'toNullable(amount_usd)',
  ],
  [
    `SELECT lagInFrame(payee, 2) ${LAG} FROM settlements LIMIT 1`,
    'empty_is_not_null',
    'payee',
    'toNullable(payee)',
  ],
  [
    `SELECT nth_value(amount_usd, 9) ${LAG} FROM settlements LIMIT 1`,
    'empty_is_not_null',
    'amount_usd',
    'toNullable(amount_usd)',
  ],
  [
    `SELECT lag(t) ${LAG} FROM (SELECT block_time, toUnixTimestamp(block_time) AS t FROM settlements) LIMIT 1`,
    'empty_is_not_null',
    't',
    'toNullable(t)',
  ],
  [
    'SELECT first_value(amount_usd) OVER (ORDER BY block_time, tx_hash ROWS BETWEEN 9 FOLLOWING AND 9 FOLLOWING) FROM settlements LIMIT 1',
    'empty_is_not_null',
    'first_value',
    'first_valueOrNull',
  ],
  [
    'SELECT max(amount_usd) OVER w FROM settlements WINDOW w AS (ORDER BY block_time, tx_hash ROWS BETWEEN 9 PRECEDING AND 8 PRECEDING) LIMIT 1',
    'empty_is_not_null',
    'max',
    'maxOrNull',
  ],
  [`SELECT max(block_time) ${NONE}`, 'empty_is_not_null', 'max', 'maxOrNull'],
  [`SELECT MIN(amount_usd) ${NONE}`, 'empty_is_not_null', 'MIN', 'minOrNull'],
  [`SELECT avg(amount_usd) ${NONE}`, 'empty_is_not_null', 'avg', 'avgOrNull'],
  [`SELECT argMax(payee, block_time) ${NONE}`, 'empty_is_not_null', 'argMax', 'argMaxOrNull'],
  [`SELECT quantile(0.5)(amount_usd) ${NONE}`, 'empty_is_not_null', 'quantile', 'quantileOrNull'],
  [
    'SELECT payee, maxIf(block_time, amount_usd > 1e9) FROM settlements GROUP BY payee',
    'empty_is_not_null',
    'maxIf',
    'maxIfOrNull',
  ],
  [
    'SELECT payee, avg(amount_usd) FILTER (WHERE amount_usd > 1e9) FROM settlements GROUP BY payee',
    'empty_is_not_null',
    'avg',
    'avgOrNull',
  ],
  [
    `SELECT max(n) FROM (SELECT count() AS n ${NONE} GROUP BY payee)`,
    'empty_is_not_null',
    'max',
    'maxOrNull',
  ],
  [
    'SELECT max(amount_usd) AS amount_usd FROM settlements WHERE amount_usd > 0',
    'alias_hides_column',
    'amount_usd',
  ],
  [
    'SELECT toDate(block_time) AS block_time, count() FROM settlements GROUP BY block_time',
    'alias_hides_column',
    'block_time',
  ],
  [
    'SELECT payee, lower(payer) AS payer FROM settlements AS s HAVING payer != 0x1',
    'alias_hides_column',
    'payer',
  ],
  [
    "WITH lower(payee) AS payee SELECT count() FROM settlements WHERE `payee` = ''",
    'alias_hides_column',
    '`payee`',
  ],
  ['SELECT n + 1 AS n FROM (SELECT number AS n FROM numbers(3)) WHERE n > 1', 'alias_hides_column', 'n'],
  [
    'WITH t AS (SELECT * FROM settlements) SELECT upper(payee) AS payee FROM t WHERE payee != 1',
    'alias_hides_column',
    'payee',
  ],
  ['SELECT amount_usd::numeric FROM settlements', 'cast_cuts_digits', 'numeric'],
  ['SELECT CAST(amount_usd AS decimal) FROM settlements', 'cast_cuts_digits', 'decimal'],
  ['SELECT CAST(amount_usd AS DECIMAL(10, 2)) FROM settlements', 'cast_cuts_digits', 'DECIMAL'],
  [
    "SELECT CAST(amount_usd, 'Nullable(Decimal32(1))') FROM settlements",
    'cast_cuts_digits',
    "'Nullable(Decimal32(1))'",
  ],
];

/** The same words where nothing differs. */
const AS_STANDARD = [
  'SELECT max(block_time), sum(amount_usd), avg(amount_usd) FROM settlements',
  'SELECT payee, max(block_time), sum(amount_usd) FROM settlements WHERE amount_usd > 1 GROUP BY payee',
  `SELECT count(), sum(amount_usd), uniq(payer), groupArray(payer), countIf(amount_usd > 1) ${NONE}`,
  `SELECT maxOrNull(block_time), min(toNullable(amount_usd)), max(facilitator) ${NONE}`,
  `SELECT lag(toNullable(block_time)) ${LAG}, lag(amount_usd, 1, 0) ${LAG}, lag(facilitator) ${LAG} FROM settlements`,
  `SELECT sum(amount_usd) ${LAG}, row_number() ${LAG}, first_value(payer) ${LAG} FROM settlements`,
  'SELECT toDate(block_time) AS day, count() FROM settlements GROUP BY day HAVING day > 0',
  'SELECT payer AS payer, s.payee AS payee FROM settlements AS s WHERE payer = payee GROUP BY payer, payee',
  'SELECT amount_usd * 2 AS amount_usd FROM settlements AS s WHERE s.amount_usd > 0 ORDER BY amount_usd',
  'SELECT amount_usd * 2 AS amount_usd FROM settlements WHERE amount_usd > 0 SETTINGS prefer_column_name_to_alias = 1',
  'SELECT CAST(amount_usd AS Decimal(38, 6)), amount_usd::Float64, toDecimal64(amount_usd, 6) FROM settlements',
];

describe('a difference from standard SQL', () => {
  test.for(WARNED)('%s: %s', async ([sql, code, near, replacement]) => {
    const warning = (await accepted(sql)).warnings.find((one) => one.code === code);
    expect(warning).toMatchObject({ near, ...(replacement === undefined ? {} : { replacement }) });
    const { line = 0, column = 0 } = warning?.position ?? {};
    expect([line, sql.startsWith(near, column - 1)]).toEqual([1, true]);
    if (replacement === undefined) return;
    const at = column - 1;
    const mended = `${sql.slice(0, at)}${replacement}${sql.slice(at + near.length)}`;
    expect((await accepted(mended)).warnings).toEqual([]);
    const [row] = (await rowsOf(mended)) as unknown[][];
    expect(row?.at(-1)).toBeNull();
  });

  test.for(AS_STANDARD)('no warning: %s', async (sql) => {
    const { warnings } = await accepted(sql);
    expect(warnings.filter(({ code }) => /^(empty|alias|cast)/.test(code))).toEqual([]);
  });

  test('the suggestion for a hidden column reads the column, in a union as well', async () => {
    const one = 'SELECT number + 1 AS number FROM numbers(3) WHERE number > 1';
    for (const [sql, rows] of [
      [one, [3]],
      [`${one} UNION ALL ${one}`, [3, 3]],
    ] as const) {
      const suggested = `${sql} SETTINGS prefer_column_name_to_alias = 1`;
      expect((await rowsOf(suggested)).flat().map(Number), sql).toEqual(rows);
    }
  });

  test('reading columns first changes no public table', async () => {
    for (const table of PUBLIC_TABLE_NAMES) {
      const sql = `SELECT * FROM ${table} ORDER BY ALL LIMIT 100`;
      expect(await rowsOf(`${sql} SETTINGS prefer_column_name_to_alias = 1`), table).toEqual(
        await rowsOf(sql),
      );
    }
  });

  test('a column with an alias of its own name costs what the column costs', async () => {
    await accepted(
      "SELECT replaceRegexpAll(payer, '^0x', '') FROM (SELECT payer AS payer FROM settlements) AS payer_of",
    );
    await accepted("SELECT payer AS payer, replaceRegexpAll(payer, '^0x', '') AS short FROM settlements");
  });
});
