import { describe, expect } from 'vitest';
import { test } from '../../kit/fixtures.ts';
import { jobsOf } from '../../kit/jobs.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import type { Customer, SqlApi } from '../../kit/sql-api.ts';

/** A kept result is what its query would have answered, in every format. */

let sql: SqlApi;
let customer: Customer;

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await insertSettlements(
    sql.engine.writer,
    Array.from({ length: 300 }, (_, at) =>
      settlement({
        blockNumber: 1_000 + at,
        blockTime: NOON + at,
        payer: wallet(at),
        amount: BigInt(at) * 10n ** 30n,
      }),
    ),
  );
  await reportChain(sql.engine.writer, BASE);
});

test.beforeEach(async () => {
  customer = await sql.customer();
});

const WIDEST = (2n ** 256n - 1n).toString();

/** One of each type that a query can give. */
const TYPES = `SELECT toUInt256('${'9'.repeat(38)}') AS u256, toInt256('-9') AS i256, toInt128(-5) AS i128, toUInt128(7) AS u128,
  toDecimal256('12.5', 6) AS d256, toDecimal256('1.5', 30) AS fine, toDecimal64('1.25', 4) AS d64, toDecimal32('-0.05', 2) AS d32,
  toDateTime('2026-01-02 03:04:05') AS at, toDateTime('2026-01-02 03:04:05', 'Europe/Berlin') AS berlin,
  toDateTime64('2026-01-02 03:04:05.123456789', 9) AS nano, toDateTime64('1950-01-02 03:04:05.1234567', 7) AS early,
  toDate('2026-01-02') AS day, toDate32('1920-01-02') AS old_day, CAST('a', 'Enum8(\\'a\\' = 1, \\'b\\' = 2)') AS word,
  toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') AS uuid, toIPv4('1.2.3.4') AS ip4, toIPv6('::1') AS ip6,
  [1, 2, 3] AS list, [[toUInt256(1)], []] AS lists, map('k', [toUInt256(6)]) AS by_name, tuple(1, 'x') AS pair,
  CAST(tuple(4, toUInt256(5)), 'Tuple(a UInt8, \`b c\` UInt256)') AS named, CAST(NULL, 'Nullable(UInt64)') AS none,
  CAST(5, 'Nullable(UInt256)') AS some, [NULL, 1] AS holes, toLowCardinality('lc') AS low,
  CAST(NULL, 'LowCardinality(Nullable(String))') AS low_none, true AS yes, toFixedString('abc', 5) AS fixed,
  nan AS f1, inf AS f2, -0.0 AS f3, toFloat32(0.1) AS f4, 1e300 AS f5, unhex('ff00') AS bytes,
  toUInt64('18446744073709551615') AS u64, toInt8(-1) AS i8, '' AS empty_text, 'a,"b\\n' AS odd, '€😀' AS wide_text,
  toUInt64(number) AS n FROM numbers(3)`;

const KINDS: readonly (readonly [string, string])[] = [
  ['every type', TYPES],
  ['wide integers', `SELECT toUInt256('${WIDEST}') AS a, toInt256('-1') AS b`],
  [
    'types that Parquet has not',
    `SELECT NULL AS nothing, [] AS empty, toIntervalDay(3) AS days, map('a', NULL) AS m`,
  ],
  ['no rows', "SELECT payer, amount FROM settlements WHERE payer = 'none'"],
  [
    'rows of a table',
    'SELECT block_time, payer, amount, amount_usd, tx_hash FROM settlements ORDER BY block_number, log_index',
  ],
  ['names in quotes', 'SELECT 1 AS `a b`, 2 AS "c d", 3 AS `kept`'],
];

describe.each(KINDS)('%s', (_, text) => {
  test.each(['json', 'json_compact', 'ndjson', 'csv', 'parquet', 'arrow'])('as %s', async (format) => {
    const numbers = format === 'parquet' || format === 'arrow' ? 'text' : undefined;
    const asked = await customer.ask({ sql: text, format, ...(numbers === undefined ? {} : { numbers }) });
    const { result } = await jobsOf(sql.api, customer).succeeded({ sql: text });
    const given = await jobsOf(sql.api, customer).result(result.id, {
      format,
      ...(numbers === undefined ? {} : { numbers }),
    });
    expect([asked.status, given.status, given.status === 200 ? '' : given.text]).toEqual([200, 200, '']);
    if (asked.body === undefined) {
      expect(given.headers['content-type']).toBe(asked.headers['content-type']);
      expect(given.bytes.equals(asked.bytes)).toBe(true);
    } else {
      expect(given.body.columns).toEqual(asked.body.columns);
      expect(given.body.rows).toEqual(asked.body.rows);
      expect([given.body.row_count, given.body.truncated]).toEqual([
        asked.body.row_count,
        asked.body.truncated,
      ]);
      expect(given.body.sql).toBe(asked.body.sql);
    }
  });
});

test('numbers as the caller wants them, and a value that does not fit is refused without a charge', async () => {
  const jobs = jobsOf(sql.api, customer);
  const { result } = await jobs.succeeded({ sql: `SELECT toUInt256('${WIDEST}') AS a, toUInt64(7) AS b` });
  const native = await jobs.result(result.id, { format: 'json', numbers: 'native' });
  expect(native.body.rows).toEqual([{ a: WIDEST, b: 7 }]);
  const before = await customer.units();
  const refused = await jobs.result(result.id, { format: 'parquet' });
  expect([refused.status, refused.body.code, refused.body.reason]).toEqual([
    400,
    'query_failed',
    'value_error',
  ]);
  expect(await customer.units()).toEqual(before);
});

test('JSON is paged, and the pages together are the result', async () => {
  const jobs = jobsOf(sql.api, customer);
  const { result } = await jobs.succeeded({ sql: 'SELECT number AS n FROM numbers(25) ORDER BY n DESC' });
  const rows: unknown[] = [];
  let offset: number | null = 0;
  for (let pages = 0; offset !== null && pages < 9; pages += 1) {
    const page = await jobs.result(result.id, { limit: '10', offset: String(offset) });
    expect(page.body.result).toMatchObject({ id: result.id, row_count: 25 });
    rows.push(...page.body.rows);
    offset = page.body.next_offset;
  }
  expect(rows).toEqual(Array.from({ length: 25 }, (_, at) => ({ n: String(24 - at) })));
});

test('a result that was cut says so, and has the rows that were asked for', async () => {
  const jobs = jobsOf(sql.api, customer);
  const { result } = await jobs.succeeded({ sql: 'SELECT number FROM numbers(25)', max_rows: 10 });
  expect(result).toMatchObject({ row_count: 10, truncated: true });
  const page = await jobs.result(result.id, {});
  expect([page.body.rows.length, page.body.truncated, page.body.next_offset]).toEqual([10, true, null]);
});

test('two columns of one name are refused before they cost anything', async () => {
  const job = await jobsOf(sql.api, customer).ended({ sql: 'SELECT 1 AS a, 2 AS a' });
  expect(job).toMatchObject({
    state: 'failed',
    failure: { code: 'invalid_query', reason: 'duplicate_columns' },
    usage: { units_charged: 0 },
  });
});

describe('a result that is read again', () => {
  test('is the same bytes in each form and page, whatever was read before', async () => {
    const jobs = jobsOf(sql.api, customer);
    const { result } = await jobs.succeeded({ sql: 'SELECT number AS n FROM numbers(50)' });
    const forms = [
      { format: 'csv' },
      { format: 'ndjson' },
      { format: 'csv', limit: '7' },
      { format: 'csv', limit: '7', offset: '7' },
      { format: 'ndjson', limit: '7', offset: '7' },
    ];
    const first: string[] = [];
    for (const form of forms) first.push((await jobs.result(result.id, form)).text);
    expect(new Set(first).size).toBe(forms.length);
    for (const [at, form] of forms.entries())
      expect((await jobs.result(result.id, form)).text).toBe(first[at]);
  });

  test('is whole where it is larger than the memory for it', async () => {
    const jobs = jobsOf(sql.api, customer);
    const { result } = await jobs.succeeded({
      sql: "SELECT number AS n, repeat('x', 100) AS x FROM numbers(30000)",
      max_rows: 30_000,
    });
    for (const _ of [1, 2]) {
      const { text, bytes } = await jobs.result(result.id, { format: 'csv' });
      expect(bytes.length).toBeGreaterThan(2 * 1024 * 1024);
      const lines = text.trimEnd().split('\n');
      expect([lines.length, lines.at(-1)?.slice(0, 6)]).toEqual([30_001, '29999,']);
    }
  });
});
