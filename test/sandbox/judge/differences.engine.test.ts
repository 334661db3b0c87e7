import { describe, expect } from 'vitest';
import { PUBLIC_TABLE_NAMES } from '../../../core/domain/public-tables.ts';
import { test } from '../../kit/fixtures.ts';
import { sqlLines } from '../../kit/judge.ts';
import { BASE, hash, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';

/** A query whose answer differs from standard SQL carries a warning, and what the warning proposes gives the standard's answer. */

test.beforeAll(async ({ sandbox: { writer } }) => {
  await insertSettlements(
    writer,
    [1, 2, 3, 4].map((place) => settlement({ txHash: hash(place) })),
  );
  await reportChain(writer, BASE);
});

const NONE = "FROM settlements WHERE payer = '0x0000000000000000000000000000000000000000'";
const LAG = 'OVER (ORDER BY block_time)';

/** A query, the code, its subject, and the replacement; of `empty_is_not_null` the last column of the first row is then NULL. */
interface DifferingLine {
  readonly code: string;
  readonly sql: string;
  readonly near: string;
  readonly replacement?: string;
  /** The columns in which a 0 makes the answer differ; absent where every answer may. */
  readonly zeroColumns?: readonly number[];
}

/** The same words where nothing differs. */
const AS_STANDARD = [
  'SELECT max(block_time), sum(amount_usd), avg(amount_usd) FROM settlements',
  'SELECT payee, max(block_time), sum(amount_usd) FROM settlements WHERE amount_usd > 1 GROUP BY payee',
  `SELECT count(), uniq(payer), groupArray(payer), countIf(amount_usd > 1) ${NONE}`,
  `SELECT maxOrNull(block_time), min(toNullable(amount)), max(facilitator) ${NONE}`,
  `SELECT sum(amount_usd), sumIf(amount_usd, is_self_payment), avg(amount_usd) * 2, max(amount_usd) ${NONE}`,
  `SELECT lag(amount_usd) ${LAG} FROM settlements`,
  `SELECT lag(toNullable(block_time)) ${LAG}, lag(amount_usd, 1, 0) ${LAG}, lag(facilitator) ${LAG} FROM settlements`,
  `SELECT sum(amount_usd) ${LAG}, row_number() ${LAG}, first_value(payer) ${LAG} FROM settlements`,
  'SELECT toDate(block_time) AS day, count() FROM settlements GROUP BY day HAVING day > 0',
  'SELECT payer AS payer, s.payee AS payee FROM settlements AS s WHERE payer = payee GROUP BY payer, payee',
  'SELECT amount_usd * 2 AS amount_usd FROM settlements AS s WHERE s.amount_usd > 0 ORDER BY amount_usd',
  'SELECT amount_usd * 2 AS amount_usd FROM settlements WHERE amount_usd > 0 SETTINGS prefer_column_name_to_alias = 1',
  'SELECT CAST(amount_usd AS Decimal(38, 6)), amount_usd::Float64, toDecimal64(amount_usd, 6) FROM settlements',
];

describe('a difference from standard SQL', () => {
  test.for(sqlLines<DifferingLine>('differing').map((line) => [line.sql, line] as const))(
    '%s',
    async ([, line], { judge }) => {
      const { sql, code, near, replacement, zeroColumns } = line;
      const warning = (await judge.accepted(sql)).warnings.find((one) => one.code === code);
      expect(warning).toMatchObject({ near, ...(replacement === undefined ? {} : { replacement }) });
      expect(warning?.zeroColumns).toEqual(zeroColumns);
      const { line: nth = 0, column = 0 } = warning?.position ?? {};
      expect([nth, sql.startsWith(near, column - 1)]).toEqual([1, true]);
      if (replacement === undefined) return;
      const at = column - 1;
      const mended = `${sql.slice(0, at)}${replacement}${sql.slice(at + near.length)}`;
      expect((await judge.accepted(mended)).warnings).toEqual([]);
      const [row] = await judge.rows(mended);
      expect(row?.at(-1)).toBeNull();
    },
  );

  test.for(AS_STANDARD)('no warning: %s', async (sql, { judge }) => {
    const { warnings } = await judge.accepted(sql);
    expect(warnings.filter(({ code }) => /^(empty|alias|cast)/.test(code))).toEqual([]);
  });

  test('the suggestion for a hidden column reads the column, in a union as well', async ({ judge }) => {
    const one = 'SELECT number + 1 AS number FROM numbers(3) WHERE number > 1';
    for (const [sql, rows] of [
      [one, [3]],
      [`${one} UNION ALL ${one}`, [3, 3]],
    ] as const) {
      const suggested = `${sql} SETTINGS prefer_column_name_to_alias = 1`;
      expect((await judge.rows(suggested)).flat().map(Number), sql).toEqual(rows);
    }
  });

  test('reading columns first changes no public table', async ({ judge }) => {
    for (const table of PUBLIC_TABLE_NAMES) {
      const sql = `SELECT * FROM ${table} ORDER BY ALL LIMIT 100`;
      expect(await judge.rows(`${sql} SETTINGS prefer_column_name_to_alias = 1`), table).toEqual(
        await judge.rows(sql),
      );
    }
  });

  test('a column with an alias of its own name costs what the column costs', async ({ judge }) => {
    await judge.accepted(
      "SELECT replaceRegexpAll(payer, '^0x', '') FROM (SELECT payer AS payer FROM settlements) AS payer_of",
    );
    await judge.accepted(
      "SELECT payer AS payer, replaceRegexpAll(payer, '^0x', '') AS short FROM settlements",
    );
  });
});
