import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { tableFromIPC } from 'apache-arrow';
import { parquetMetadata } from 'hyparquet';
import { describe, expect } from 'vitest';
import {
  JSON_ROWS_MAX,
  SQL_FORMATS,
  SQL_MEDIA,
  type SqlFormat,
} from '../../../../src/operations/sql/params.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_PUSH } from '../../../kit/lengths.ts';
import type { Customer, SqlApi, SqlReply } from '../../../kit/sql-api.ts';

/** No answer looks whole that is not: rows are refused, counted before the first of them, or the connection breaks. */

let sql: SqlApi;
let customer: Customer;
let url: string;
const directory = mkdtempSync(join(tmpdir(), 'settlement-index-whole-'));

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  const origin = await sql.api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `${origin}/v0/sql`;
});
test.afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Each has a rate of its own. */
test.beforeEach(async () => {
  customer = await sql.customer({ plan: 'enterprise' });
});

const numbers = (rows: number) => `SELECT number AS n FROM numbers(${rows})`;
const MEBIBYTE = 1024 * 1024;

async function rowsIn(format: SqlFormat, { bytes, body }: Pick<SqlReply, 'bytes' | 'body'>): Promise<number> {
  switch (format) {
    case 'json':
    case 'json_compact':
      return body.rows.length;
    case 'ndjson':
      return bytes.toString().trimEnd().split('\n').length;
    case 'csv':
      return bytes.toString().trimEnd().split('\n').length - 1;
    case 'arrow':
      return tableFromIPC(bytes).numRows;
    case 'parquet': {
      const { buffer, byteOffset, byteLength } = bytes;
      return Number(
        parquetMetadata(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer).num_rows,
      ); // of its own memory
    }
  }
}

/** What the answer says of itself, before its rows where it has headers for it. */
function saidOf({ headers, body }: SqlReply): unknown[] {
  return body === undefined
    ? [Number(headers['x-row-count']), headers['x-truncated']]
    : [body.row_count, String(body.truncated)];
}

describe.each(SQL_FORMATS)('%s', (format) => {
  const { rowsMax } = SQL_MEDIA[format];

  test('of more rows than it may have is an error, unless the caller gave a number of rows', async () => {
    for (const [text, more] of [
      [numbers(rowsMax + 1), {}],
      // A number that no answer has is none that was agreed to.
      [numbers(rowsMax + 1), { max_rows: 50_000_000 }],
      [`${numbers(100)} SETTINGS max_result_rows = 99`, {}],
      [numbers(rowsMax + 1), { max_age: 0 }],
    ] as const) {
      const refused = await customer.ask({ sql: text, format, ...more });
      expect([text, refused.status, refused.body?.code, refused.body?.reason]).toEqual([
        ...[text, 400, 'query_failed', 'result_size'],
      ]);
      expect(refused.body.hint).toContain('max_rows');
      // The run is charged.
      expect(refused.body.usage).toMatchObject({ units_charged: 1 });
    }
  });

  test('says its rows, and whether there are more, exactly', async () => {
    for (const [text, more, rows, truncated] of [
      [numbers(100), { max_rows: 5 }, 5, 'true'],
      [numbers(5), { max_rows: 5 }, 5, 'false'],
      [numbers(5), {}, 5, 'false'],
      [numbers(0), { max_rows: 1 }, 0, 'false'],
      [`${numbers(6)} SETTINGS limit = 5`, {}, 5, 'true'],
      [`${numbers(9)} LIMIT 5`, {}, 5, 'false'],
      [numbers(101), { max_rows: 5, max_age: 0 }, 5, 'true'],
    ] as const) {
      const answer = await customer.ask({ sql: text, format, ...more });
      expect([text, more, answer.status, ...saidOf(answer)]).toEqual([text, more, 200, rows, truncated]);
      if (rows > 0) expect(await rowsIn(format, answer)).toBe(rows);
    }
  });

  test('has every row of a result that is larger than 64 MiB in the engine’s memory', async () => {
    // 144 MB of columns, 72 MB as decimals of a file, and a few MB as they are written.
    const text = `SELECT number AS n, arrayWithConstant(450, toUInt256(0)) AS t FROM numbers(${JSON_ROWS_MAX})`;
    const answer = await customer.ask({ sql: text, format });
    expect([answer.body?.reason, ...saidOf(answer)]).toEqual([undefined, JSON_ROWS_MAX, 'false']);
    expect(answer.status).toBe(200);
    expect(await rowsIn(format, answer)).toBe(JSON_ROWS_MAX);
  });
});

test('pages and files of a kept result say exactly whether more rows follow', async () => {
  const { body } = await customer.ask({ sql: numbers(7), max_age: 0 });
  const read = async (query: string) => {
    const { headers, payload } = await sql.api.app.inject({
      url: `/v0/results/${body.result.id}?${query}`,
      headers: customer.headers,
    });
    return headers['x-truncated'] ?? String(JSON.parse(payload).truncated);
  };
  for (const format of SQL_FORMATS) {
    expect([format, await read(`format=${format}`)]).toEqual([format, 'false']);
    expect([format, await read(`format=${format}&limit=7`)]).toEqual([format, 'false']);
    expect([format, await read(`format=${format}&limit=3`)]).toEqual([format, 'true']);
    expect([format, await read(`format=${format}&limit=3&offset=4`)]).toEqual([format, 'false']);
  }
});

test('a job without a number of rows fails where its result has more than one may have', async () => {
  const { headers } = customer;
  const answer = await customer.ask({ sql: numbers(1_000_001), wait_seconds: 50, format: 'csv' }, headers);
  expect([answer.status, answer.body?.reason]).toEqual([400, 'result_size']);
  const cut = await customer.ask({ sql: numbers(20_000), wait_seconds: 50, max_rows: 10_000 });
  expect([cut.status, cut.body.row_count, cut.body.truncated]).toEqual([200, 10_000, true]);
});

test('NULL in CSV is nothing, or what `csv_null` says, and never like a text', async () => {
  const text = "SELECT NULL::Nullable(String) AS a, '' AS b, 'NULL' AS c";
  for (const more of [{}, { max_age: 0 }]) {
    const plain = await customer.ask({ sql: text, format: 'csv', ...more });
    expect(plain.text).toBe('"a","b","c"\n,"","NULL"\n');
    const named = await customer.ask({ sql: text, format: 'csv', csv_null: 'NULL', ...more });
    expect(named.text).toBe('"a","b","c"\nNULL,"","NULL"\n');
  }
  for (const csv_null of ['a,b', '"', 'a\nb', 'x'.repeat(17), 1]) {
    const { status, body } = await customer.ask({ sql: text, format: 'csv', csv_null });
    expect([status, body.parameter]).toEqual([400, 'csv_null']);
  }
});

test.skipIf(IS_PUSH)(
  'an answer above 1 GiB breaks its connection, which curl reports, and is streamed in bounded memory until then',
  {
    timeout: 240_000,
  },
  async () => {
    // 1.2 GB as CSV.
    const text = "SELECT number AS n, repeat('x', 5000) AS t FROM numbers(240000)";
    const head = join(directory, 'head');
    const memory = () => {
      const { external, arrayBuffers, heapUsed } = process.memoryUsage();
      return external + arrayBuffers + heapUsed;
    };
    const before = memory();
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, memory());
    }, 20);
    const curl = spawn('curl', [
      // Slower than the service could send.
      ...['-sS', '--limit-rate', '200M', '-o', '/dev/null', '-D', head, '-w', '%{size_download}'],
      ...['-H', `X-API-Key: ${customer.headers['x-api-key']}`, '-H', 'Content-Type: application/json'],
      ...['-d', JSON.stringify({ sql: text, format: 'csv' }), url],
    ]);
    const [bytes, code] = await Promise.all([
      readText(curl.stdout),
      new Promise((resolve) => curl.once('close', resolve)),
    ]);
    clearInterval(watch);
    // CURLE_PARTIAL_FILE.
    expect(code).toBe(18);
    expect(readFileSync(head, 'utf8')).toMatch(/^x-row-count: 240000\r\nx-truncated: false\r$/m);
    expect(Number(bytes)).toBeGreaterThan(1_000 * MEBIBYTE);
    expect(Number(bytes)).toBeLessThanOrEqual(1_024 * MEBIBYTE);
    expect(most - before).toBeLessThan(200 * MEBIBYTE);
  },
);
