import { type Table, tableFromIPC } from 'apache-arrow';
import { parquetMetadata } from 'hyparquet';
import { describe, expect } from 'vitest';
import { PUBLIC_TABLE_NAMES } from '../../../../core/domain/public-tables.ts';
import { test } from '../../../kit/fixtures.ts';
import { fillEndpoints, fillIdentities } from '../../../kit/market.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../../kit/rows.ts';
import { type Customer, readParquet, type SqlApi } from '../../../kit/sql-api.ts';

/** Parquet and Arrow as their readers see them, and numbers in the forms that a caller may ask for. */

let sql: SqlApi;
let customer: Customer;

const MOST = '9'.repeat(38);
const WIDEST = (2n ** 256n - 1n).toString();

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  const rows = Array.from({ length: 300 }, (_, at) =>
    settlement({
      blockNumber: 1_000 + at,
      blockTime: NOON + at,
      payer: wallet(at),
      amount: at === 200 ? 10n ** 38n : BigInt(at) * 10n ** 30n,
    }),
  );
  await insertSettlements(sql.engine.writer, rows);
  await reportChain(sql.engine.writer, BASE);
  await fillIdentities(sql.engine.writer);
  await fillEndpoints(sql.engine.writer, NOON);
});

/** Each has a rate of its own. */
test.beforeEach(async () => {
  customer = await sql.customer();
});

interface Leaf {
  readonly name: string;
  readonly type: string | undefined;
  readonly logical: unknown;
  readonly digits: readonly [number | undefined, number | undefined];
}

function leavesOf(bytes: Buffer): Leaf[] {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer; // a Buffer's memory is an ArrayBuffer
  return parquetMetadata(file)
    .schema.filter(({ num_children: children }) => children === undefined)
    .map(({ name, type, logical_type: logical, precision, scale }) => ({
      name,
      type,
      logical,
      digits: [precision, scale],
    }));
}

const parquet = async (query: string, more: object = {}) => {
  const reply = await customer.ask({ sql: query, format: 'parquet', ...more });
  expect([reply.status, reply.status === 200 ? '' : reply.text]).toEqual([200, '']);
  return reply.bytes;
};
const arrow = async (query: string, more: object = {}): Promise<Table> => {
  const reply = await customer.ask({ sql: query, format: 'arrow', ...more });
  expect([reply.status, reply.status === 200 ? '' : reply.text]).toEqual([200, '']);
  return tableFromIPC(reply.bytes);
};
const typesOf = (table: Table): string[] => table.schema.fields.map(({ name, type }) => `${name} ${type}`);

const DECIMAL = { type: 'FIXED_LEN_BYTE_ARRAY', digits: [38, 0] };
const TIMESTAMP = {
  type: 'INT64',
  logical: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
};

describe('wide integers', () => {
  const VALUES = `SELECT toUInt256('${MOST}') AS u, toInt256('-${MOST}') AS i, toUInt128(5) AS u128, toInt128(-5) AS i128,
    toDecimal256('12.5', 6) AS d, CAST(NULL, 'Nullable(UInt256)') AS none, [toUInt256(1), toUInt256(2)] AS list,
    tuple(toUInt256(3), 'x') AS pair, CAST(tuple(4, toUInt256(5)), 'Tuple(a UInt8, \`b c\` UInt256)') AS named,
    map('k', [toUInt256(6)]) AS by_name, 'kept' AS s`;

  test('are decimals of 38 digits in Parquet', async () => {
    const bytes = await parquet(VALUES);
    const leaves = leavesOf(bytes);
    for (const name of ['u', 'i', 'u128', 'i128', 'none'])
      expect(leaves.find((leaf) => leaf.name === name)).toMatchObject(DECIMAL);
    expect(leaves.find(({ name }) => name === 'd')?.digits).toEqual([38, 6]);
    const structure =
      'u Decimal(38, 0), i Decimal(38, 0), u128 Decimal(38, 0), i128 Decimal(38, 0), d Decimal(38, 6), none Nullable(Decimal(38, 0)), list Array(Decimal(38, 0)), pair Tuple(Decimal(38, 0), String), named Tuple(a UInt8, `b c` Decimal(38, 0)), by_name Map(String, Array(Decimal(38, 0))), s String';
    expect(await readParquet(sql.engine, bytes, structure)).toEqual([
      {
        ...{ u: MOST, i: `-${MOST}`, u128: '5', i128: '-5', d: '12.5', none: null, list: ['1', '2'] },
        ...{ pair: ['3', 'x'], named: { a: 4, 'b c': '5' }, by_name: { k: ['6'] }, s: 'kept' },
      },
    ]);
  });

  test('are decimals of 38 digits in Arrow', async () => {
    const table = await arrow(VALUES);
    expect(typesOf(table).slice(0, 6)).toEqual([
      ...['u Decimal[38e0]', 'i Decimal[38e0]', 'u128 Decimal[38e0]', 'i128 Decimal[38e0]'],
      ...['d Decimal[38e+6]', 'none Decimal[38e0]'],
    ]);
    expect(String(table.getChild('u')?.get(0))).toContain(MOST);
    expect(table.getChild('none')?.get(0)).toBeNull();
  });

  test.each(['parquet', 'arrow'])(
    'are texts with every digit in %s where texts are asked for',
    async (format) => {
      const query = `SELECT toUInt256('${WIDEST}') AS u, [toUInt256('${WIDEST}')] AS list, NULL AS none, toUInt64(1) AS n`;
      if (format === 'parquet') {
        const bytes = await parquet(query, { numbers: 'text' });
        const read = await readParquet(
          sql.engine,
          bytes,
          'u String, list Array(String), none Nullable(String), n UInt64',
        );
        expect(read).toEqual([{ u: WIDEST, list: [WIDEST], none: null, n: '1' }]);
      } else {
        const table = await arrow(query, { numbers: 'text' });
        expect(typesOf(table)).toEqual(['u Utf8', 'list List<Utf8>', 'none Utf8', 'n Uint64']);
        expect(table.getChild('u')?.get(0)).toBe(WIDEST);
      }
    },
  );

  test.each(['parquet', 'arrow'])('that do not fit fail %s, naming row, column and value', async (format) => {
    const before = (await customer.units()).spent;
    const reply = await customer.ask({
      sql: 'SELECT block_number, amount FROM settlements ORDER BY block_number',
      format,
    });
    expect([reply.status, reply.body.code, reply.body.reason]).toEqual([400, 'query_failed', 'value_error']);
    expect(reply.body.detail).toContain(`Row 201 of the result has ${10n ** 38n} in amount`);
    expect(reply.body.hint).toContain('numbers');
    expect(reply.text).not.toContain('export');
    // Like any other failure after rows were read, and no more.
    expect((await customer.units()).spent - before).toBe(1);
    const negative = await customer.ask({
      sql: `SELECT [toInt256('-1'), toInt256('-${MOST}') - 1] AS deep FROM numbers(3)`,
      format,
    });
    expect(negative.body.detail).toContain(`Row 1 of the result has -1${'0'.repeat(38)} in deep`);
    const optional = await customer.ask({
      sql: `SELECT if(number = 1, NULL, toUInt256('1${'0'.repeat(38)}')) AS maybe FROM numbers(1, 5)`,
      format,
    });
    expect(optional.body.detail).toContain('Row 2 of the result');
  });
});

describe('times', () => {
  const TIMES = `SELECT toDateTime('2026-11-20 09:15:04', 'UTC') AS t, toDateTime64('2026-11-20 09:15:04.123', 3, 'UTC') AS t3,
    CAST(NULL, 'Nullable(DateTime(''UTC''))') AS none, [toDateTime('2026-11-20 09:15:04', 'UTC')] AS list,
    toDateTime('2026-11-20 18:15:04', 'Asia/Tokyo') AS tokyo, map('k', toDateTime('2026-11-20 09:15:04', 'UTC')) AS by_name,
    toDate('2026-11-20') AS day`;
  const MS = Date.parse('2026-11-20T09:15:04Z');

  test('are timestamps in UTC in Parquet', async () => {
    const leaves = leavesOf(await parquet(TIMES));
    for (const name of ['t', 't3', 'none', 'element', 'tokyo', 'value'])
      expect([name, leaves.find((leaf) => leaf.name === name)]).toEqual([
        name,
        expect.objectContaining(TIMESTAMP),
      ]);
  });

  test('are timestamps with their zone in Arrow', async () => {
    const table = await arrow(TIMES);
    expect(typesOf(table)).toEqual([
      't Timestamp<MILLISECOND, UTC>',
      't3 Timestamp<MILLISECOND, UTC>',
      'none Timestamp<MILLISECOND, UTC>',
      'list List<Timestamp<MILLISECOND, UTC>>',
      'tokyo Timestamp<MILLISECOND, Asia/Tokyo>',
      'by_name Map<{key:Utf8, value:Timestamp<MILLISECOND, UTC>}>',
      'day Date32<DAY>',
    ]);
    expect([table.getChild('t')?.get(0), table.getChild('tokyo')?.get(0)]).toEqual([MS, MS]);
    expect(table.getChild('none')?.get(0)).toBeNull();
  });
});

describe('what the formats have no type for', () => {
  const ODD = `SELECT NULL AS nothing, [] AS empty, [NULL] AS nulls, map() AS no_map, tuple(NULL, 1) AS pair, toIPv4('1.2.3.4') AS ip,
    CAST('a', 'Enum8(''a'' = 1)') AS word, toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') AS id,
    '{"k": "v"}'::JSON AS json, INTERVAL 2 WEEK AS span, CAST(1.5, 'BFloat16') AS half, toIPv4OrNull('x') AS no_ip`;

  test.each(['json', 'json_compact', 'ndjson', 'csv', 'parquet', 'arrow'])(
    'a bare NULL is an answer in %s',
    async (format) => {
      for (const query of ['SELECT NULL', 'SELECT NULL AS a, [] AS b', 'SELECT NULL UNION ALL SELECT NULL']) {
        const { status, text } = await customer.ask({ sql: query, format });
        expect([query, status, status === 200 ? '' : text]).toEqual([query, 200, '']);
      }
    },
  );

  test('is text in Parquet and Arrow', async () => {
    const table = await arrow(ODD);
    expect(typesOf(table)).toEqual([
      ...['nothing Utf8', 'empty List<Utf8>', 'nulls List<Utf8>', 'no_map Map<{key:Utf8, value:Utf8}>'],
      ...['pair Struct<{1:Utf8, 2:Uint8}>', 'ip Utf8', 'word Utf8', 'id Utf8'],
      ...['json Utf8', 'span Int64', 'half Float32', 'no_ip Utf8'],
    ]);
    const row = table.get(0)?.toJSON();
    expect([row?.['json'], row?.['span']]).toEqual(['{"k":"v"}', 2n]);
    expect([row?.['nothing'], row?.['ip'], row?.['word'], row?.['id']]).toEqual([
      ...[null, '1.2.3.4', 'a', '61f0c404-5cb3-11e7-907b-a6006ad3dba0'],
    ]);
    const read = await readParquet(
      sql.engine,
      await parquet(ODD),
      'nothing Nullable(String), empty Array(Nullable(String)), nulls Array(Nullable(String)), ip String',
    );
    expect(read).toEqual([{ nothing: null, empty: [], nulls: [null], ip: '1.2.3.4' }]);
  });
});

describe('a converted query', () => {
  test('keeps its order, its limits, its parameters and its names', async () => {
    const query = `SELECT amount AS "select", block_time AS "a b", payer, payer AS "payer", amount + {more:UInt8}, block_number AS __exported_1
      FROM settlements WHERE amount < {below:UInt256} ORDER BY cityHash64(payer), block_number`;
    const params = { below: String(10n ** 38n), more: 1 };
    const want = await customer.ask({ sql: query, params, format: 'json_compact', max_rows: 250 });
    const table = await arrow(query, { params, max_rows: 250 });
    expect(table.schema.fields.map(({ name }) => name)).toEqual([
      ...['select', 'a b', 'payer', 'payer_2', "plus(amount, _CAST(1, 'UInt8'))", '__exported_1'],
    ]);
    expect(table.numRows).toBe(250);
    expect([...(table.getChild('payer') ?? [])]).toEqual(want.body.rows.map((row: string[]) => row[2]));
    expect([...(table.getChild('__exported_1') ?? [])].map(String)).toEqual(
      want.body.rows.map((row: string[]) => row[5]),
    );
  });

  test('says in its headers what the query took, and that it was cut', async () => {
    const { headers } = await customer.ask({
      sql: 'SELECT amount % 10 FROM settlements',
      format: 'parquet',
      max_rows: 5,
    });
    expect([headers['x-row-count'], headers['x-truncated']]).toEqual(['5', 'true']);
    // The text that the caller sent, as for every other format.
    expect(decodeURIComponent(headers['x-sql'] ?? '')).toBe('SELECT amount % 10 FROM settlements');
  });

  test('may be of any shape', async () => {
    for (const query of [
      'WITH t AS (SELECT amount FROM settlements) SELECT * FROM t LIMIT 3',
      '(SELECT toUInt256(1) AS a) UNION ALL (SELECT toUInt256(2))',
      'SELECT amount % 3 AS g, sum(amount % 10) AS s FROM settlements GROUP BY g WITH TOTALS ORDER BY g',
      'SELECT toStartOfHour(block_time) AS hour, max(amount % 10) AS a FROM settlements GROUP BY hour ORDER BY hour WITH FILL STEP 60 LIMIT 3',
      'SELECT amount % 10 AS a FROM settlements LIMIT (SELECT 2)',
      'SELECT (SELECT max(block_time) FROM settlements), (SELECT toUInt256(3))',
      'SELECT DISTINCT ON (chain) chain, block_time, toUInt256(1) FROM settlements ORDER BY chain, block_time LIMIT 2',
    ]) {
      await parquet(query);
      await arrow(query);
    }
    const totals = await arrow(
      'SELECT toUInt256(number % 2) AS n, count() AS c FROM numbers(4) GROUP BY n WITH TOTALS ORDER BY n',
    );
    expect(totals.numRows).toBe(2);
  });

  test('is charged nothing where it cannot be planned', async () => {
    const before = (await customer.units()).spent;
    const reply = await customer.ask({ sql: 'SELECT payer + 1 FROM settlements', format: 'arrow' });
    expect([reply.status, reply.body.reason]).toEqual([400, 'type_error']);
    expect((await customer.units()).spent).toBe(before);
  });

  test.each(PUBLIC_TABLE_NAMES)('gives the whole of %s', async (name) => {
    const query = `SELECT * FROM ${name}${name.includes('settlements') ? ' WHERE amount < toUInt256(1)' : ''} LIMIT 100`;
    await parquet(query);
    await arrow(query);
  });
});

describe('numbers in JSON', () => {
  const QUERY = `SELECT toUInt64(7) AS small, toUInt64('18446744073709551615') AS large, toDecimal128('0.25', 6) AS d, 0.1 AS f,
    [toUInt256(1), toUInt256('${WIDEST}')] AS list, '12' AS s, nan AS nan, CAST(NULL, 'Nullable(UInt64)') AS none`;
  const NATIVE = `{"small":7,"large":"18446744073709551615","d":0.25,"f":0.1,"list":[1,"${WIDEST}"],"s":"12","nan":"nan","none":null}`;

  test('are numbers where a double holds them, if that is asked for', async () => {
    const json = await customer.ask({ sql: QUERY, numbers: 'native' });
    expect(json.text).toContain(`"rows":[${NATIVE}]`);
    expect(json.body.columns[0]).toEqual({ name: 'small', type: 'UInt64' });
    const compact = await customer.ask({ sql: QUERY, numbers: 'native', format: 'json_compact' });
    expect(compact.body.rows).toEqual([Object.values(JSON.parse(NATIVE))]);
    const lines = await customer.ask({ sql: QUERY, numbers: 'native', format: 'ndjson' });
    expect(lines.text).toBe(`${NATIVE}\n`);
    expect([lines.headers['x-row-count'], lines.headers['x-truncated']]).toEqual(['1', 'false']);
  });

  test('are texts with every digit otherwise', async () => {
    for (const numbers of [undefined, 'text']) {
      const { body } = await customer.ask({ sql: QUERY, ...(numbers === undefined ? {} : { numbers }) });
      expect(body.rows[0]).toMatchObject({ small: '7', d: '0.25', list: ['1', WIDEST] });
    }
  });

  test('a line that would lose a column is refused in that form too, and rows are cut at the limit', async () => {
    const twice = await customer.ask({ sql: 'SELECT count(), count()', numbers: 'native', format: 'ndjson' });
    expect(twice.body.reason).toBe('duplicate_columns');
    const cut = await customer.ask({
      sql: 'SELECT number FROM numbers(9)',
      numbers: 'native',
      format: 'ndjson',
      max_rows: 2,
    });
    expect([cut.text, cut.headers['x-row-count'], cut.headers['x-truncated']]).toEqual([
      ...['{"number":0}\n{"number":1}\n', '2', 'true'],
    ]);
  });

  test('in any other form are refused', async () => {
    const { status, body } = await customer.ask({ sql: 'SELECT 1', numbers: 'float' });
    expect([status, body.code, body.parameter]).toEqual([400, 'invalid_parameter', 'numbers']);
  });
});
