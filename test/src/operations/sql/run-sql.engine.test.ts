import { tableFromIPC } from 'apache-arrow';
import { describe, expect } from 'vitest';
import { PUBLIC_TABLE_NAMES } from '../../../../core/domain/public-tables.ts';
import { QUERY_FAILURES } from '../../../../sandbox/sandbox.ts';
import { OPERATIONS } from '../../../../src/operations/index.ts';
import { complaints } from '../../../kit/answer-schema.ts';
import { ANONYMOUS } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';
import {
  ask,
  type Customer,
  onOneLine,
  readParquet,
  type SqlApi,
  type SqlReply,
} from '../../../kit/sql-api.ts';

/** POST /v0/sql as its callers see it: answers, charges, and refusals that cost nothing. */

let sql: SqlApi;

const codesOf = ({ warnings = [] }: { warnings?: readonly { code: string }[] }): string[] =>
  warnings.map(({ code }) => code);

const PAYER = wallet(0xa1);
const rows = Array.from({ length: 50 }, (_, at) =>
  settlement({
    blockNumber: 1_000 + at,
    blockTime: NOON - 3_600 + at,
    payer: at % 2 === 0 ? PAYER : wallet(0x100 + at),
    payee: wallet(0xb2),
    amount: 2n ** 255n + BigInt(at),
    amountUsdMicros: BigInt(at) * 10_000n,
  }),
);

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await insertSettlements(sql.engine.writer, rows);
  await nameFacilitator(sql.engine.writer, 'coinbase', 'Coinbase');
  await reportChain(sql.engine.writer, BASE);
});

const runSql = OPERATIONS.find(({ id }) => id === 'runSql');

describe('an answer in JSON', () => {
  test('has columns, rows, figures, the charge, and the text that ran', async () => {
    const customer = await sql.customer({ units: 10 });
    const { status, body, headers } = await customer.ask(
      'select payer, count() as n, sum(amount_usd) usd from settlements -- mine\n group by payer order by n desc limit 2',
    );
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toMatchObject({
      columns: [
        { name: 'payer', type: 'String' },
        { name: 'n', type: 'UInt64' },
        { name: 'usd', type: 'Nullable(Decimal(38, 6))' },
      ],
      row_count: 2,
      truncated: false,
      usage: { query_tier: 'standard', units_held: 3, units_charged: 1, balance: 9 },
    });
    expect(body.rows[0]).toEqual({ payer: PAYER, n: '25', usd: '6' });
    expect(body.sql).not.toContain('mine');
    expect(body.statistics.rows_read).toBeGreaterThanOrEqual(50);
    expect(body.meta.as_of).toBe('2026-11-20T12:00:00Z');
    expect(body.meta.freshness.chains.length).toBe(2);
    expect(complaints(runSql?.output ?? {}, body)).toEqual([]);
    expect(await customer.units()).toEqual({ granted: 10, balance: 9, held: 0, spent: 1 });
  });

  test('json_compact gives arrays; without rows both say which columns there would be', async ({
    customer,
  }) => {
    const compact = await customer.ask({ sql: 'SELECT 1 AS a, 2 AS a_2, 3', format: 'json_compact' });
    expect(compact.body.rows).toEqual([[1, 2, 3]]);
    const nothing = await customer.ask('SELECT payer, amount FROM settlements WHERE 0');
    expect(nothing.body).toMatchObject({
      columns: [
        { name: 'payer', type: 'String' },
        { name: 'amount', type: 'UInt256' },
      ],
      rows: [],
      row_count: 0,
      truncated: false,
    });
  });

  test('every column of the same name reaches the caller', async ({ customer }) => {
    const { body } = await customer.ask('SELECT count(), count() FROM settlements');
    expect(body.columns.map(({ name }: { name: string }) => name)).toEqual(['count()', 'count()_2']);
    expect(body.rows).toEqual([{ 'count()': '50', 'count()_2': '50' }]);
    const lines = await customer.ask({ sql: 'SELECT count(), count() FROM settlements', format: 'ndjson' });
    expect([lines.status, lines.body.code, lines.body.reason]).toEqual([
      400,
      'query_failed',
      'duplicate_columns',
    ]);
  });

  test('parameters are values, whatever they hold', async ({ customer }) => {
    const nasty = 'x\' OR 1=1 -- \\ \t\n"`{}';
    const { body } = await customer.ask({
      sql: 'SELECT {text:String} AS text, {list:Array(String)} AS list, {n:UInt64} AS n, {none:Nullable(String)} AS none, {numbers:Array(UInt8)} AS numbers',
      params: { text: nasty, list: [nasty, "a'b"], n: '18446744073709551615', none: null, numbers: [1, 2] },
    });
    expect(body.rows).toEqual([
      { text: nasty, list: [nasty, "a'b"], n: '18446744073709551615', none: null, numbers: [1, 2] },
    ]);
  });
});

describe('exactness', () => {
  const EXACT = `SELECT toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935') AS u,
    toInt64('-9223372036854775808') AS i, toDecimal128('123456789012345678901234567890.123456', 6) AS d,
    nan AS nan, inf AS inf, -inf AS ninf, NULL AS nothing, 0.1 AS f,
    toDateTime64('2026-11-20 09:15:04.123456', 6, 'UTC') AS t, [[1], []] AS a, map('k', [1, 2]) AS m,
    tuple(1, 'x') AS tuple, CAST(tuple(1, 'x'), 'Tuple(n UInt8, s String)') AS named, 'é"\\\\\\n\\t' AS s, true AS yes,
    '{"a":{"b":[1,"x"]}}'::JSON AS j, ''::String AS empty`;
  const VALUES = {
    u: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    i: '-9223372036854775808',
    d: '123456789012345678901234567890.123456',
    nan: 'nan',
    inf: 'inf',
    ninf: '-inf',
    nothing: null,
    f: 0.1,
    t: '2026-11-20T09:15:04.123456Z',
    a: [[1], []],
    m: { k: [1, 2] },
    tuple: [1, 'x'],
    named: { n: 1, s: 'x' },
    s: 'é"\\\n\t',
    yes: true,
    empty: '',
  };

  test('no value of any type is rounded, renamed or lost in JSON and NDJSON', async ({ customer }) => {
    const json = await customer.ask(EXACT);
    expect(json.body.rows).toHaveLength(1);
    expect(json.body.rows[0]).toMatchObject(VALUES);
    expect(json.body.rows[0].j.a.b.map(String)).toEqual(['1', 'x']);
    const compact = await customer.ask({ sql: EXACT, format: 'json_compact' });
    const names = compact.body.columns.map(({ name }: { name: string }) => name);
    expect(
      Object.fromEntries(names.map((name: string, at: number) => [name, compact.body.rows[0][at]])),
    ).toEqual(json.body.rows[0]);
    const lines = await customer.ask({ sql: EXACT, format: 'ndjson' });
    expect(lines.text.endsWith('\n')).toBe(true);
    expect(JSON.parse(lines.text)).toEqual(json.body.rows[0]);
  });

  const FLAT = `SELECT toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935')::String AS u,
    toInt64('-9223372036854775808') AS i, toDecimal128('1234567890123456.123456', 6) AS d, nan AS nan, -inf AS ninf,
    NULL::Nullable(String) AS nothing, toDateTime64('2026-11-20 09:15:04.123', 3, 'UTC') AS t, [1, 2]::Array(Int32) AS a,
    'é,"\n' AS s FROM numbers(3)`;

  test('CSV quotes what holds commas, quotes and line breaks', async ({ customer }) => {
    const { text, headers } = await customer.ask({ sql: FLAT, format: 'csv' });
    expect(headers['content-type']).toContain('text/csv');
    expect(text.startsWith('"u","i","d","nan","ninf","nothing","t","a","s"\n')).toBe(true);
    const row =
      '"115792089237316195423570985008687907853269984665640564039457584007913129639935",-9223372036854775808,1234567890123456.123456,nan,-inf,,"2026-11-20T09:15:04.123Z","[1,2]","é,""\n"\n';
    expect(text.split('\n').slice(1).join('\n')).toBe(row.repeat(3));
    expect([headers['x-row-count'], headers['x-truncated']]).toEqual(['3', 'false']);
  });

  test('Arrow is read back by an independent reader', async ({ customer }) => {
    const { bytes, headers } = await customer.ask({ sql: FLAT, format: 'arrow' });
    expect(headers['content-type']).toBe('application/vnd.apache.arrow.stream');
    const table = tableFromIPC(bytes);
    expect(table.numRows).toBe(3);
    const row = table.get(0)?.toJSON() ?? {};
    expect(text(row['u'])).toBe(VALUES.u);
    expect(row['i']).toBe(-9223372036854775808n);
    expect(row['nan']).toBeNaN();
    expect(row['ninf']).toBe(Number.NEGATIVE_INFINITY);
    expect(row['nothing']).toBeNull();
    expect(text(row['s'])).toBe('é,"\n');
    expect([headers['x-row-count'], headers['x-truncated']]).toEqual(['3', 'false']);
  });

  test('Parquet is read back by the engine itself', async ({ customer }) => {
    const { bytes, headers } = await customer.ask({ sql: FLAT, format: 'parquet' });
    expect(headers['content-type']).toBe('application/vnd.apache.parquet');
    expect(bytes.subarray(0, 4).toString()).toBe('PAR1');
    const structure =
      "u String, i Int64, d Decimal(38, 6), nan Float64, ninf Float64, nothing Nullable(String), t DateTime64(3, 'UTC'), a Array(Int32), s String";
    const read = await readParquet(sql.engine, bytes, structure);
    expect(read).toHaveLength(3);
    expect(read[0]).toMatchObject({
      u: VALUES.u,
      i: '-9223372036854775808',
      d: '1234567890123456.123456',
      nan: 'nan',
      ninf: '-inf',
      nothing: null,
      a: [1, 2],
      s: 'é,"\n',
    });
    expect(String(read[0]?.['t'])).toContain('2026-11-20T09:15:04.123Z');
  });

  /** Texts arrive as bytes where the engine does not promise UTF-8. */
  function text(value: unknown): string {
    return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value);
  }
});

describe('caps', () => {
  test('rows of a JSON answer stop at max_rows, and it is said', async ({ customer }) => {
    const cut = await customer.ask({ sql: 'SELECT number FROM numbers(100)', max_rows: 7 });
    expect(cut.body).toMatchObject({ row_count: 7, truncated: true });
    expect(cut.body.rows).toHaveLength(7);
    const exact = await customer.ask({ sql: 'SELECT number FROM numbers(7)', max_rows: 7 });
    expect(exact.body).toMatchObject({ row_count: 7, truncated: false });
  });

  test('the row of WITH TOTALS is in no format, and that is said', async ({ customer }) => {
    const totals = 'SELECT number % 2 AS n, count() AS c FROM numbers(4) GROUP BY n WITH TOTALS ORDER BY n';
    const csv = await customer.ask({ sql: totals, format: 'csv' });
    expect([csv.text, csv.headers['x-row-count']]).toEqual(['"n","c"\n0,2\n1,2\n', '2']);
    const { body } = await customer.ask({ sql: totals });
    expect(body.row_count).toBe(2);
    expect(body.warnings).toContainEqual(expect.objectContaining({ code: 'totals_left_out' }));
  });
});

describe('charges', () => {
  test('a query that does not pass costs nothing, and says where and what instead', async () => {
    const customer = await sql.customer({ units: 5 });
    const { status, body } = await customer.ask('SELECT 1,\n  payr FROM setlements');
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'invalid_query',
      near: 'setlements',
      position: { line: 2, column: 13 },
    });
    expect(body.hint).toContain('settlements');
    expect(await customer.units()).toEqual({ granted: 5, balance: 5, held: 0, spent: 0 });
  });

  test.each(['', '  ', '-- nothing', '/* nothing */'])('%j is invalid_query', async (text) => {
    const customer = await sql.customer();
    expect((await customer.ask(text)).body.code).toBe('invalid_query');
  });

  test.each([
    ['unknown_column', 'SELECT pajer FROM settlements'],
    ['value_error', "SELECT toUInt8('x') FROM settlements"],
    ['value_error', "SELECT payer FROM settlements WHERE block_time > 'x'"],
    ['not_grouped', 'SELECT payer FROM settlements GROUP BY payee'],
    ['rows_read', 'SELECT sum(number) FROM numbers(10000000000)'],
  ])('a query that fails before it reads a row costs nothing (%s)', async (reason, text) => {
    const customer = await sql.customer({ units: 5 });
    const { status, body } = await customer.ask(text);
    const code = reason === 'value_error' || reason === 'rows_read' ? 'query_failed' : 'invalid_query';
    expect([status, body.code]).toEqual([400, code]);
    if (reason !== 'unknown_column') expect(body.reason).toBe(reason);
    expect(body).not.toHaveProperty('usage');
    expect(await customer.units()).toEqual({ granted: 5, balance: 5, held: 0, spent: 0 });
  });

  test.each([
    ['SELECT 1,\n  pajer FROM settlements', undefined, 'pajer', { line: 2, column: 3 }, /payer/],
    ['SELECT chain = "base" FROM settlements', undefined, '"base"', { line: 1, column: 16 }, /'base'/],
    [
      'SELECT a.chain FROM (SELECT payer FROM settlements) AS a',
      'unknown_column',
      'a.chain',
      { line: 1, column: 8 },
      /columns/,
    ],
    ['SELECT payer, count() FROM settlements', 'not_grouped', undefined, undefined, /GROUP BY/],
    ['SELECT payer + 1 FROM settlements', 'type_error', undefined, undefined, /./],
    ['SELECT 1 AS a, 2 AS a, a', 'duplicate_columns', undefined, undefined, /AS/],
  ])('%s is an invalid request, and no run that failed', async (text, reason, near, position, hint) => {
    const customer = await sql.customer({ units: 5 });
    const { status, body } = await customer.ask(text);
    expect([status, body.code, body.reason, body.near, body.position]).toEqual([
      ...[400, 'invalid_query', reason],
      ...[near, position],
    ]);
    expect(body.hint).toMatch(hint);
    expect((await customer.units()).spent).toBe(0);
  });

  test('a refusal names an alias that hides a column, and suggests the query that reads the column', async () => {
    const customer = await sql.customer({ units: 5 });
    const text = 'SELECT max(amount_usd) AS amount_usd FROM settlements WHERE amount_usd > 0';
    const { body } = await customer.ask(text);
    expect(body).toMatchObject({ code: 'invalid_query', reason: 'not_grouped', near: 'amount_usd' });
    expect(body.hint).toMatch(/^In WHERE, amount_usd is the alias/);
    expect((await customer.ask(String(body.suggested_sql))).status).toBe(200);
  });

  test('a caller without a key is given the columns of the table as well when it names an unknown one', async () => {
    const { body } = await ask(
      sql.api,
      { sql: 'SELECT pajer FROM settlements', explain_only: true },
      ANONYMOUS,
    );
    expect(body).toMatchObject({ code: 'invalid_query', near: 'pajer', position: { line: 1, column: 8 } });
    expect(body.hint).toMatch(/^Did you mean payer\? settlements has chain/);
  });

  test('a query that fails later costs the time it used, and the answer says so', async () => {
    const customer = await sql.customer({ units: 5 });
    const { status, body } = await customer.ask(
      "SELECT toUInt8(if(log_index = 0 AND payer = '', '1', 'x')) FROM settlements",
    );
    expect([status, body.code]).toEqual([400, 'query_failed']);
    expect(body.usage).toEqual({ units_held: 3, units_charged: 1, balance: 4 });
    expect((await customer.units()).spent).toBe(1);
  });

  test('memory is bounded, and the caller pays for the use until then', async () => {
    const customer = await sql.customer({ units: 5 });
    const { status, body } = await customer.ask(
      "SELECT groupArray(repeat('x', 1000) || toString(number)) FROM numbers(100000000)",
    );
    expect([status, body.code, body.reason]).toEqual([400, 'query_failed', 'memory']);
    expect((await customer.units()).spent).toBeGreaterThanOrEqual(1);
    expect((await customer.ask('SELECT 1')).status).toBe(200);
  });

  test('an organization without enough units for the tier is refused before anything runs', async () => {
    const customer = await sql.customer({ units: 2 });
    const { status, body } = await customer.ask('SELECT 1');
    expect([status, body.code]).toEqual([402, 'insufficient_qu']);
    expect(await customer.units()).toEqual({ granted: 2, balance: 2, held: 0, spent: 0 });
  });

  test('an invalid query is invalid also for callers who could not pay', async () => {
    expect((await ask(sql.api, 'SELEC 1', ANONYMOUS)).body.code).toBe('invalid_query');
    expect((await ask(sql.api, 'SELECT 1', ANONYMOUS)).status).toBe(401);
  });
});

describe('tiers', () => {
  test('a plan buys its tiers and no other', async () => {
    const free = await sql.customer({ plan: 'free' });
    const refused = await free.ask({ sql: 'SELECT 1', tier: 'extended' });
    expect([refused.status, refused.body.code]).toEqual([403, 'upgrade_required']);
    const enterprise = await sql.customer({ plan: 'enterprise', units: 100 });
    const deep = await enterprise.ask({ sql: 'SELECT 1', tier: 'deep' });
    expect(deep.body.usage).toEqual({ query_tier: 'deep', units_held: 60, units_charged: 1, balance: 99 });
  });

  test('a tier has a rate limit of its own, and what it refuses costs nothing', async () => {
    const customer = await sql.customer({ plan: 'enterprise', units: 1_000 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn++)
      statuses.push((await customer.ask({ sql: 'SELECT 1', tier: 'deep' })).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await customer.ask({ sql: 'SELECT 1', tier: 'standard' })).status).toBe(200);
    expect((await customer.units()).spent).toBe(3);
  });
});

describe('explain_only without a key', () => {
  const explain = (text: string) => ask(sql.api, { sql: text, explain_only: true }, {});

  test('estimates a plain query', async () => {
    const { status, body } = await explain(
      "SELECT payee, sum(amount_usd) AS usd FROM settlements WHERE block_time > now() - INTERVAL 7 DAY AND chain IN ('eip155:8453') GROUP BY payee ORDER BY usd DESC LIMIT 5",
    );
    expect(status).toBe(200);
    expect(body.estimate.rows_to_read).not.toBeNull();
  });

  test.each([
    ['a subquery that gives a single value', 'SELECT (SELECT sum(amount_usd) FROM settlements)'],
    [
      'a subquery that gives a set',
      'SELECT count() FROM settlements WHERE payee IN (SELECT payer FROM settlements)',
    ],
    [
      'a set by name',
      'WITH w AS (SELECT payer FROM settlements) SELECT count() FROM settlements WHERE payee IN w',
    ],
    ['a function over constants', "SELECT toUInt8('a-canary-of-a-constant')"],
    ['a lambda', 'SELECT arrayMap(x -> x + 1, [1])'],
    ['a table function', 'SELECT sum(number) FROM numbers(1000000000)'],
    [
      'a recursive CTE',
      'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT n FROM r',
    ],
  ])('computes nothing of %s, and says that a key is needed', async (_what, text) => {
    const { status, body } = await explain(text);
    expect(status).toBe(200);
    expect(body.estimate).toMatchObject({ rows_to_read: null, bytes_to_read: null });
    expect(body.warnings).toContainEqual(expect.objectContaining({ code: 'estimate_needs_key' }));
    expect(JSON.stringify({ ...body, sql: '' })).not.toContain('canary');
  });

  test('explains an error in our own words, and with a key in the engine’s', async () => {
    const text = 'SELECT payer + 1 FROM settlements';
    const without = await explain(text);
    expect(without.body).toMatchObject({ status: 400, detail: QUERY_FAILURES.type_error });
    const customer = await sql.customer();
    const withKey = await customer.ask({ sql: text, explain_only: true });
    expect(withKey.body.detail).toMatch(/Illegal types/);
  });
});

describe('a budget', () => {
  test('is the amount held, so that units for it are enough; without one the tier’s maximum is held', async () => {
    const customer = await sql.customer({ units: 1 });
    const without = await customer.ask('SELECT 1');
    expect([without.status, without.body.code]).toEqual([402, 'insufficient_qu']);
    expect(without.body.detail).toContain('3 QU');
    const { status, body } = await customer.ask({ sql: 'SELECT 1', max_qu: 1 });
    expect([status, body.usage]).toEqual([
      200,
      { query_tier: 'standard', units_held: 1, units_charged: 1, balance: 0 },
    ]);
    expect(await customer.units()).toEqual({ granted: 1, balance: 0, held: 0, spent: 1 });
  });

  test('buys five seconds a unit, and no more is charged than was bought', async () => {
    const customer = await sql.customer({ units: 9 });
    const startedMs = performance.now();
    const { status, body } = await customer.ask({
      sql: 'SELECT max(sipHash128(number, number, number)) FROM numbers(1000000000)',
      max_qu: 1,
    });
    expect([status, body.code, body.reason]).toEqual([400, 'query_failed', 'timeout']);
    expect(performance.now() - startedMs).toBeGreaterThan(4_900);
    expect(performance.now() - startedMs).toBeLessThan(9_000);
    expect(body.usage).toEqual({ units_held: 1, units_charged: 1, balance: 8 });
    expect(body.hint).toContain('max_qu');
  }, 30_000);

  test('goes up to the maximum of the tier', async () => {
    const customer = await sql.customer({ plan: 'enterprise', units: 100 });
    for (const [tier, most] of [
      ['standard', 3],
      ['extended', 12],
      ['deep', 60],
    ] as const) {
      const { body } = await customer.ask({ sql: 'SELECT 1', tier, max_qu: most });
      expect(body.usage).toMatchObject({ query_tier: tier, units_held: most, units_charged: 1 });
      const over = await customer.ask({ sql: 'SELECT 1', tier, max_qu: most + 1 });
      expect([over.status, over.body.code, over.body.parameter]).toEqual([
        400,
        'invalid_parameter',
        'max_qu',
      ]);
      expect(over.body.detail).toContain(`from 1 to ${most} in the tier ${tier}`);
    }
  });

  test.each([0, -1, 1.5, '2', 4, 1e300, true, [1], {}])('%j is refused with the range', async (value) => {
    const customer = await sql.customer({ units: 5 });
    const { status, body } = await customer.ask({ sql: 'SELECT 1', max_qu: value });
    expect([status, body.code, body.parameter]).toEqual([400, 'invalid_parameter', 'max_qu']);
    expect(body.detail).toContain('from 1 to 3 in the tier standard');
    expect((await customer.units()).spent).toBe(0);
  });
});

describe('explain_only', () => {
  test('is free and needs no key, and says what would be read and cost', async () => {
    const { status, body } = await ask(
      sql.api,
      { sql: `SELECT count() FROM settlements WHERE payer = '${PAYER}' FORMAT CSV`, explain_only: true },
      ANONYMOUS,
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ tables: ['settlements'], tier: 'standard', advised_tier: 'standard' });
    expect(body.estimate.rows_to_read).toBeGreaterThan(0);
    expect(body.estimate.bytes_to_read).toBeGreaterThan(0);
    expect([body.estimate.qu_min, body.estimate.qu_max]).toEqual([1, 1]);
    expect(codesOf(body)).toContain('format_ignored');
    expect(codesOf(body)).toContain('no_time_filter');
    expect(complaints(runSql?.alsoAnswers?.[0] ?? {}, body)).toEqual([]);
  });

  test('warns of a query that no key and no time narrows, and not of one that both do', async () => {
    const customer = await sql.customer({ units: 5 });
    const whole = await customer.ask({ sql: 'SELECT sum(amount_usd) FROM settlements', explain_only: true });
    expect(codesOf(whole.body)).toEqual(expect.arrayContaining(['no_time_filter', 'no_key_filter']));
    const narrow = await customer.ask({
      sql: "SELECT sum(amount_usd) FROM settlements WHERE block_time >= '2026-11-20 00:00:00' AND chain = 'eip155:8453'",
      explain_only: true,
    });
    expect(codesOf(narrow.body)).not.toContain('no_time_filter');
    expect(codesOf(narrow.body)).not.toContain('no_key_filter');
    expect((await customer.units()).spent).toBe(0);
  });
});

describe('requests that cannot be read', () => {
  const NONSENSE: readonly [string, Record<string, unknown>, string][] = [
    ['no text', {}, 'sql'],
    ['a text that is none', { sql: 5 }, 'sql'],
    ['two texts', { sql: 'SELECT 1', query: 'SELECT 2' }, 'query'],
    ['an unknown tier', { sql: 'SELECT 1', tier: 'huge' }, 'tier'],
    ['an unknown format', { sql: 'SELECT 1', format: 'xml' }, 'format'],
    ['rows that are no number', { sql: 'SELECT 1', max_rows: '10' }, 'max_rows'],
    ['no rows', { sql: 'SELECT 1', max_rows: 0 }, 'max_rows'],
    ['fewer rows than none', { sql: 'SELECT 1', max_rows: -5, format: 'csv' }, 'max_rows'],
    ['a budget that is no number', { sql: 'SELECT 1', max_qu: '1' }, 'max_qu'],
    ['a switch that is none', { sql: 'SELECT 1', explain_only: 'yes' }, 'explain_only'],
    ['parameters that are no object', { sql: 'SELECT 1', params: [1] }, 'params'],
    ['a parameter that is an object', { sql: 'SELECT {a:String}', params: { a: {} } }, 'params'],
    ['a number that JSON does not keep', { sql: 'SELECT {a:UInt64}', params: { a: 2 ** 60 } }, 'params'],
    ['an unknown field', { sql: 'SELECT 1', limit: 5 }, 'limit'],
  ];

  test.each(NONSENSE)('%s', async (_what, body, parameter) => {
    const customer = await sql.customer({ units: 5 });
    const answer = await customer.ask(body);
    expect([answer.status, answer.body.code, answer.body.parameter]).toEqual([
      400,
      'invalid_parameter',
      parameter,
    ]);
    expect((await customer.units()).spent).toBe(0);
  });
});

test('an Accept header chooses the format where the body does not', async ({ customer }) => {
  const types = async (accept: string, body: Record<string, unknown>) =>
    (await customer.ask(body, { accept })).headers['content-type']?.split(';')[0];
  expect(await types('text/csv', { sql: 'SELECT 1' })).toBe('text/csv');
  expect(await types('application/x-ndjson', { sql: 'SELECT 1' })).toBe('application/x-ndjson');
  expect(await types('application/vnd.apache.parquet', { sql: 'SELECT 1' })).toBe(
    'application/vnd.apache.parquet',
  );
  expect(await types('text/csv', { sql: 'SELECT 1', format: 'json' })).toBe('application/json');
  expect(await types('*/*', { sql: 'SELECT 1' })).toBe('application/json');
});

describe('an Idempotency-Key', () => {
  const KEY = { 'idempotency-key': 'run-once-0123456789' };

  test('makes a repeated call the same call: one charge, the same answer', async () => {
    const customer = await sql.customer({ units: 10 });
    const first = await customer.ask('SELECT generateUUIDv4() AS id', KEY);
    const again = await customer.ask('SELECT generateUUIDv4() AS id', KEY);
    expect(again.body.rows).toEqual(first.body.rows);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await customer.units()).spent).toBe(1);
    const other = await customer.ask('SELECT 2', KEY);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
    expect((await customer.units()).spent).toBe(1);
  });

  test('of an answer too large to be kept says that it was answered, and charges nothing again', async () => {
    const customer = await sql.customer({ units: 10 });
    const large = { sql: 'SELECT number FROM numbers(100000)', format: 'ndjson' };
    expect((await customer.ask(large, KEY)).status).toBe(200);
    const again = await customer.ask(large, KEY);
    expect([again.status, again.body.code]).toEqual([409, 'reply_not_kept']);
    expect((await customer.units()).spent).toBe(1);
  });
});

test('no answer of a failure names what lies behind the public tables', async ({ customer }) => {
  const asked = [
    'SELECT nope FROM settlements',
    'SELECT * FROM nope',
    'SELECT nope(1) FROM settlements',
    "SELECT toUInt8('x') FROM settlements",
    'SELECT payer + 1 FROM settlements',
    'SELECT count() FROM settlements GROUP BY (SELECT payer FROM settlements)',
    'SELECT settlements.nope FROM settlements JOIN facilitators ON 1',
    'SELECT * FROM settlements PREWHERE payer = 1',
    'SELECT sum(payer) FROM settlements',
    'SELECT toDateTime(payer) FROM settlements',
  ];
  for (const text of asked) {
    const { status, text: answer } = await customer.ask(text);
    expect(status, text).toBe(400);
    expect(answer, text).not.toMatch(
      /index_of_test|_public|wallet_rows|payee_day|chain_status|version \d|ClickHouse|DB::|\/tmp|\/dev|127\.0\.0\.1|localhost|max_[a-z_]+|__table|guest|writer|definer/i,
    );
  }
});

describe('GET /v0/sql/schema', () => {
  const schema = (query = '') => sql.api.get(`/v0/sql/schema${query}`, ANONYMOUS);
  const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

  test('without parameters names the tables in a line each, and no function', async () => {
    const { status, body, text } = await schema();
    expect(status).toBe(200);
    expect(namesOf(body.tables)).toEqual(PUBLIC_TABLE_NAMES);
    for (const table of body.tables) expect(Object.keys(table)).toEqual(['name', 'meaning', 'row_count']);
    expect(body.tables[0].row_count).toBe(50);
    expect(body.functions).toBeUndefined();
    expect(body.limits.tiers).toHaveLength(3);
    expect(Buffer.byteLength(text)).toBeLessThan(SCHEMA_LIST_MAX_BYTES);
  });

  test('has one table whole, as the engine describes it, with an example that runs', async ({ customer }) => {
    for (const name of PUBLIC_TABLE_NAMES) {
      const { body, text } = await schema(`?table=${name}`);
      const [table, ...others] = body.tables;
      expect([table.name, others, Object.keys(body).sort()]).toEqual([name, [], ['meta', 'tables']]);
      const described = await sql.engine.guest.explain({
        name: 'describe',
        text: `DESCRIBE TABLE ${name}`,
        maxSeconds: 5,
      });
      expect(
        table.columns.map((column: { name: string; type: string }) => [column.name, column.type]),
      ).toEqual(described.map(([column, type]) => [column, onOneLine(type)]));
      for (const { meaning } of table.columns) expect(meaning).toMatch(/\.$/);
      expect(namesOf(table.columns)).toEqual(expect.arrayContaining(table.cheap_by));
      expect(table.cheap_by.length).toBeGreaterThan(0);
      const answer: SqlReply = await customer.ask(table.example);
      expect([name, answer.status, answer.text.slice(0, 300)]).toEqual([name, 200, expect.any(String)]);
      // The world has rows, and no ingest that wrote them.
      expect(answer.body.warnings).toEqual([expect.objectContaining({ code: 'index_not_started' })]);
      expect(Buffer.byteLength(text)).toBeLessThan(SCHEMA_TABLE_MAX_BYTES);
    }
  });

  test('finds functions by a word of their names', async () => {
    const { body } = await schema('?functions=DATE');
    expect(body.functions).toEqual(
      expect.arrayContaining(['dateDiff', 'toDate', 'formatDateTime', 'str_to_date', 'dateTrunc']),
    );
    for (const other of ['mapUpdate', 'sum']) expect(body.functions).not.toContain(other);
    expect(body.functions_total).toBe(body.functions.length);
    expect(body.tables).toBeUndefined();
    expect((await schema('?functions=file')).body).toMatchObject({ functions: [], functions_total: 0 });
    const many = (await schema('?functions=to')).body;
    expect(many.functions).toHaveLength(100);
    expect(many.functions_total).toBeGreaterThan(100);
    const both = (await schema('?functions=quantile&table=settlements')).body;
    expect(both.functions).toContain('quantileTDigest');
    expect(namesOf(both.tables)).toEqual(['settlements']);
  });

  test('has everything where everything is asked for', async () => {
    const { body } = await schema('?table=*&functions=*');
    expect(body.tables.every(({ columns }: { columns: unknown[] }) => columns.length > 0)).toBe(true);
    expect(body.functions).toContain('quantileTDigest');
    expect(body.functions).not.toContain('file');
    expect(body.functions_total).toBe(body.functions.length);
    expect(body.examples.length).toBeGreaterThan(2);
  });

  test('refuses a table that is not there, naming the one that was meant', async () => {
    const { status, body } = await schema('?table=setlements');
    expect([status, body.code, body.parameter]).toEqual([400, 'invalid_parameter', 'table']);
    expect(body.detail).toContain('Did you mean settlements?');
    expect((await schema('?functions=to%20date')).body).toMatchObject({
      parameter: 'functions',
      status: 400,
    });
  });

  test('its examples run', async () => {
    const { body } = await schema();
    const customer = await sql.customer();
    for (const { sql: text } of body.examples) {
      const params = text.includes('{wallet') ? { wallet: PAYER } : {};
      const answer: SqlReply = await customer.ask({ sql: text, params });
      expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    }
  });
});

/** Read by models: the list in a thousand tokens or less, a wide table in fourteen hundred. */
const SCHEMA_LIST_MAX_BYTES = 5_600;
const SCHEMA_TABLE_MAX_BYTES = 5_500;

describe('a constant that no row can have', () => {
  const CHECKSUMMED = `0x${'aB'.repeat(20)}`;
  const WRONG = `SELECT count() AS n FROM settlements WHERE payer = '${CHECKSUMMED}' AND facilitator = 'unknown'`;
  const WARNING = {
    code: 'constant_matches_nothing',
    message: 'Addresses are texts here: lower-case hex, 0x and 40 digits, or base58 as Solana writes it.',
    near: CHECKSUMMED,
    position: { line: 1, column: 52 },
    replacement: `'${CHECKSUMMED.toLowerCase()}'`,
    edits: [
      {
        from: WRONG.indexOf(`'${CHECKSUMMED}'`),
        to: WRONG.indexOf(`'${CHECKSUMMED}'`) + CHECKSUMMED.length + 2,
        text: `'${CHECKSUMMED.toLowerCase()}'`,
      },
    ],
  };

  test('is warned of in JSON, in the header of other formats and by explain_only, and the query runs', async ({
    customer,
  }) => {
    const { status, body } = await customer.ask(WRONG);
    expect([status, body.rows]).toEqual([200, [{ n: '0' }]]);
    expect(body.warnings).toContainEqual(WARNING);
    const { headers } = await customer.ask({ sql: WRONG, format: 'csv' });
    expect(JSON.parse(headers['x-warnings'] ?? '[]')).toContainEqual(WARNING);
    const explained = await customer.ask({ sql: WRONG, explain_only: true });
    expect(explained.body.warnings).toContainEqual(WARNING);
  });

  test('is warned of where only the catalogues tell it: a facilitator that is not there', async ({
    customer,
  }) => {
    const { body } = await customer.ask(
      "SELECT count() AS n FROM settlements WHERE facilitator = 'Coinbase'",
    );
    expect(body.warnings).toContainEqual(
      expect.objectContaining({ code: 'constant_matches_nothing', replacement: "'coinbase'" }),
    );
    const right = await customer.ask("SELECT count() AS n FROM settlements WHERE facilitator = 'coinbase'");
    expect(JSON.stringify(right.body.warnings ?? [])).not.toContain('constant_matches_nothing');
  });

  test('that is no ASCII fits into a header', async ({ customer }) => {
    const { headers } = await customer.ask({
      sql: "SELECT 1 FROM settlements WHERE chain = 'bäse\\n'",
      format: 'csv',
    });
    expect(headers['x-warnings']).toMatch(/^[ -~]+$/);
    expect(JSON.parse(headers['x-warnings'] ?? '')).toContainEqual(
      expect.objectContaining({ near: 'bäse\n' }),
    );
  });
});

test('a sum of no rows is warned of: in JSON where the answer shows a 0, in other formats and by explain_only always', async ({
  customer,
}) => {
  const sql = (condition: string) =>
    `SELECT count() AS n, sum(amount) AS units FROM settlements WHERE ${condition}`;
  const some = (await customer.ask(sql('amount_usd > 0'))).body;
  expect(codesOf(some)).not.toContain('empty_is_not_null');
  const none = await customer.ask(sql('amount_usd < 0'));
  const warning = (none.body.warnings as { code: string }[] | undefined)?.find(
    ({ code }) => code === 'empty_is_not_null',
  );
  expect(warning).toMatchObject({ code: 'empty_is_not_null', near: 'sum', replacement: 'sumOrNull' });
  expect(warning).not.toHaveProperty('zeroColumns');
  const { headers } = await customer.ask({ sql: sql('amount_usd > 0'), format: 'csv' });
  expect(JSON.parse(headers['x-warnings'] ?? '[]')).toContainEqual(warning);
  const explained = await customer.ask({ sql: sql('amount_usd > 0'), explain_only: true });
  expect(explained.body.warnings).toContainEqual(warning);
});

test('SAMPLE, which would read every row and be multiplied afterwards, is refused', async ({ customer }) => {
  const { status, body } = await customer.ask('SELECT count() * 10 AS n FROM settlements SAMPLE 1 / 10');
  expect(status).toBe(400);
  expect(body).toMatchObject({
    code: 'invalid_query',
    near: 'SAMPLE',
    position: { line: 1, column: 43 },
    hint: expect.stringContaining('cityHash64'),
  });
});

test('the two base paths serve the same', async () => {
  const customer: Customer = await sql.customer();
  const answer = await sql.api.app.inject({
    method: 'POST',
    url: '/api/v0/sql',
    headers: { 'content-type': 'application/json', ...customer.headers },
    payload: { query: 'SELECT 1 AS one' },
  });
  expect(answer.json().rows).toEqual([{ one: 1 }]);
});
