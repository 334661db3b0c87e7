import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, describe, expect } from 'vitest';
import { CLICKHOUSE_FORMATS } from '../../../../sandbox/policy/formats.ts';
import { DOOR_ROWS, type Door, openDoor } from '../../../kit/clickhouse-door.ts';
import { test } from '../../../kit/fixtures.ts';

let door: Door;

test.beforeAll(async ({ sqlService }) => {
  door = await openDoor(sqlService);
});
afterAll(async () => {
  await door?.close();
});

const LAST =
  'SELECT log_index, payer, block_time, amount_usd FROM settlements ORDER BY log_index DESC LIMIT 1';

describe('a query', () => {
  test('may stand in the URL, in the body, or begin in the one and end in the other', async () => {
    const wanted = `${DOOR_ROWS}\n`;
    expect((await door.ask('SELECT count() FROM settlements')).text).toBe(wanted);
    const url = new URL(door.url);
    url.searchParams.set('query', 'SELECT count() FROM settlements');
    const got = await fetch(url, { headers: { 'x-clickhouse-key': door.key } });
    expect(await got.text()).toBe(wanted);
    expect((await door.ask('FROM settlements', { query: 'SELECT count()' })).text).toBe(wanted);
  });

  test('is answered with the headers that clients read, and the units that it cost', async () => {
    const customer = await door.renew();
    const before = await customer.units();
    const { status, headers } = await door.ask(LAST, { query_id: 'mine-1', default_format: 'JSON' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=UTF-8');
    expect(headers.get('x-clickhouse-query-id')).toBe('mine-1');
    expect(headers.get('x-clickhouse-format')).toBe('JSON');
    expect(headers.get('x-clickhouse-timezone')).toBe('UTC');
    expect(headers.get('x-clickhouse-server-display-name')).toBe('settlement-index');
    expect(headers.get('x-clickhouse-exception-code')).toBeNull();
    const summary: Record<string, string> = JSON.parse(headers.get('x-clickhouse-summary') ?? '');
    expect(Number(summary['read_rows'])).toBeGreaterThanOrEqual(DOOR_ROWS);
    expect(summary['result_rows']).toBe('1');
    expect(headers.get('x-units-charged')).toBe('1');
    const after = await customer.units();
    expect(before.balance - after.balance).toBe(1);
  });

  test('takes parameters, which stand apart from its text', async () => {
    const { text } = await door.ask('SELECT {n:UInt8} + 1, {s:String}', { param_n: '41', param_s: "it's" });
    expect(text).toBe("42\tit\\'s\n");
  });

  test('takes its text and parameters as fields of a form, a list of thousands of addresses among them', async () => {
    const addresses = Array.from({ length: 8_000 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`);
    const form = new FormData();
    form.set(
      'query',
      'SELECT length({list:Array(String)}), {last:String} IN {list:Array(String)}, {s:String}',
    );
    form.set('param_list', `[${addresses.map((one) => `'${one}'`).join(',')}]`);
    form.set('param_last', addresses.at(-1) ?? '');
    form.set('param_s', "it's");
    const { status, text } = await door.ask('', {}, { body: form });
    expect([status, text]).toEqual([200, "8000\t1\tit\\'s\n"]);
  });

  test('in a form that cannot be read, or with a file in it, is refused', async () => {
    const type = { 'content-type': 'multipart/form-data; boundary=x' };
    const broken = await door.ask('', {}, { body: '--x\r\nno form', headers: type });
    expect([broken.status, broken.headers.get('x-clickhouse-exception-code')]).toEqual([400, '36']);
    const form = new FormData();
    form.set('query', 'SELECT * FROM t');
    form.set('t', new Blob(['1']), 'data');
    const file = await door.ask('', {}, { body: form });
    expect(file.headers.get('x-clickhouse-exception-code')).toBe('48');
  });

  test('names a table by a parameter', async () => {
    const { text } = await door.ask('SELECT count() FROM {t:Identifier}', { param_t: 'settlements' });
    expect(text).toBe(`${DOOR_ROWS}\n`);
  });

  test('may end with a semicolon', async () => {
    expect((await door.ask('SELECT 1;')).text).toBe('1\n');
  });

  test.each(['default'])('may name tables in the database %s', async (database) => {
    const { text } = await door.ask(
      `SELECT ${database}.settlements.log_index FROM \`${database}\`.settlements ORDER BY 1 LIMIT 1`,
      { database },
    );
    expect(text).toBe('0\n');
  });

  test('of an unknown database is refused with code 81', async () => {
    expect(await refusal('SELECT 1', { database: 'nowhere' })).toMatch(
      /^81 Code: 81\. DB::Exception: Database nowhere does not exist/,
    );
  });
});

describe('the format', () => {
  test('is that of the text, then that of the header, then that of the URL, then TabSeparated', async () => {
    const ask = async (text: string, words: Record<string, string> = {}, headers = {}) =>
      (await door.ask(text, words, { headers })).headers.get('x-clickhouse-format');
    expect(await ask('SELECT 1')).toBe('TabSeparated');
    expect(await ask('SELECT 1', { default_format: 'CSV' })).toBe('CSV');
    expect(await ask('SELECT 1', { default_format: 'CSV' }, { 'x-clickhouse-format': 'JSON' })).toBe('JSON');
    expect(
      await ask('SELECT 1 format vertical', { default_format: 'CSV' }, { 'x-clickhouse-format': 'JSON' }),
    ).toBe('Vertical');
  });

  test('is that of a server of its own: plain numbers, and times with a space', async () => {
    const { text } = await door.ask(LAST, { default_format: 'JSONEachRow' });
    expect(JSON.parse(text)).toMatchObject({
      block_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      amount_usd: expect.any(Number),
    });
    const quoted = await door.ask('SELECT toUInt64(1) AS n', {
      default_format: 'JSONEachRow',
      output_format_json_quote_64bit_integers: '1',
    });
    expect(quoted.text).toBe('{"n":"1"}\n');
    const iso = await door.ask(
      "SELECT block_time FROM settlements LIMIT 1 SETTINGS date_time_output_format = 'iso' FORMAT TSV",
    );
    expect(iso.text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/);
  });

  test.each(CLICKHOUSE_FORMATS)('%s is written by the engine', async (format) => {
    const { status, headers, text } = await door.ask(`${LAST} FORMAT ${format}`);
    expect(text).not.toMatch(/DB::Exception/);
    expect({ status, format: headers.get('x-clickhouse-format') }).toEqual({ status: 200, format });
  });

  test('Null has no body and is charged like a run', async () => {
    const { bytes, headers } = await door.ask(`${LAST} FORMAT Null`);
    expect(bytes).toHaveLength(0);
    expect(headers.get('x-units-charged')).toBe('1');
  });

  test.each(['Protobuf', 'Template', 'nothing', 'CapnProto', 'LineAsString'])(
    '%s is refused with code 73',
    async (format) => {
      expect(await refusal(`SELECT 1 FORMAT ${format}`)).toMatch(/^73 Code: 73\. .*\(UNKNOWN_FORMAT\)\n$/);
      expect(await refusal('SELECT 1', { default_format: format })).toMatch(/^73 /);
    },
  );
});

describe('compression', () => {
  test('is the fastest that the client takes', async () => {
    const ask = (coding: string) => raw(coding, LAST);
    expect(gunzipSync(await ask('gzip')).toString()).toMatch(/^29\t/);
    expect(brotliDecompressSync(await ask('br')).toString()).toMatch(/^29\t/);
    expect((await ask('br, gzip, zstd')).readUInt32LE(0)).toBe(0xfd2fb528);
    expect((await ask('lz4')).readUInt32LE(0)).toBe(0x184d2204);
    expect((await ask('gzip;q=0, snappy')).toString()).toMatch(/^29\t/);
  });

  test('in blocks of its own is written on compress=1', async () => {
    const { bytes } = await door.ask('SELECT 1 FORMAT Native', { compress: '1' });
    // A checksum of 16 bytes, the method (LZ4), and both sizes.
    expect(bytes[16]).toBe(0x82);
    expect(bytes.readUInt32LE(17)).toBe(bytes.length - 16);
  });

  test('does not hide why a query failed', async () => {
    const text = "SELECT throwIf(number > 5, 'oh dear') FROM numbers(10)";
    for (const coding of ['gzip', 'br', 'deflate', 'zstd', 'lz4'])
      expect((await raw(coding, text)).toString(), coding).toMatch(/^Code: \d+\. DB::Exception: /);
    expect((await door.ask(text, { compress: '1' })).text).toMatch(/^Code: \d+\. DB::Exception: /);
  });

  /** curl shows a body as it came. */
  async function raw(coding: string, text: string): Promise<Buffer> {
    const words = ['-s', '-H', `Accept-Encoding: ${coding}`, '-H', `X-ClickHouse-Key: ${door.key}`];
    const { stdout } = await promisify(execFile)('curl', [...words, '--data-binary', text, door.url], {
      encoding: 'buffer',
    });
    return stdout;
  }
});

describe('a credential', () => {
  test('is the API key as password, in any of the places that clients put it', async () => {
    const ask = async (words: Record<string, string>, headers: Record<string, string>) => {
      const url = new URL(door.url);
      for (const [name, value] of Object.entries({ query: 'SELECT 1', ...words }))
        url.searchParams.set(name, value);
      return (await fetch(url, { headers })).status;
    };
    const basic = (user: string, password: string) => ({
      authorization: `Basic ${btoa(`${user}:${password}`)}`,
    });
    expect(await ask({}, basic('analyst', door.key))).toBe(200);
    expect(await ask({}, { 'x-clickhouse-user': 'x', 'x-clickhouse-key': door.key })).toBe(200);
    expect(await ask({ user: 'x', password: door.key }, {})).toBe(200);
    expect(await ask({ password: door.key }, basic('x', door.key))).toBe(200);
    expect(await ask({ password: door.key }, basic('x', 'other'))).toBe(403);
    expect(await ask({}, { authorization: `Bearer ${door.key}` })).toBe(200);
    expect(await ask({}, basic('default', ''))).toBe(401);
  });

  test('that is wrong is refused with code 516, and does not show the key again', async () => {
    const wrong = `six_live_${'x'.repeat(43)}`;
    const answer = await door.ask(
      'SELECT 1',
      {},
      { headers: { 'x-clickhouse-key': wrong, 'x-clickhouse-user': wrong } },
    );
    expect(answer.status).toBe(403);
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('516');
    expect(answer.text).toMatch(/Authentication failed: password is incorrect.*\(AUTHENTICATION_FAILED\)\n$/);
    expect(answer.text).not.toContain('xxx');
  });

  test('that is missing is asked for with 401 and code 194', async () => {
    const answer = await door.ask('SELECT 1', {}, { headers: { 'x-clickhouse-key': '' } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('194');
  });
});

describe('settings', () => {
  test.each([
    ['max_threads', '8'],
    ['readonly', '2'],
    ['send_progress_in_http_headers', '1'],
    ['wait_end_of_query', '1'],
    ['session_timezone', 'UTC'],
    ['join_use_nulls', '1'],
    ['session_id', 'abc'],
    ['max_memory_usage', '1'],
    ['log_comment', 'x'],
    ['async_insert', '1'],
    ['wait_for_async_insert', '0'],
    ['max_parallel_replicas', '3'],
    ['cast_keep_nullable', '1'],
    ['query_cache_ttl', '60'],
    ['query_cache_share_between_users', '1'],
    ['insert_quorum', '2'],
  ])('%s=%s is taken and changes no answer', async (name, value) => {
    expect((await door.ask('SELECT count() FROM settlements', { [name]: value })).text).toBe(
      `${DOOR_ROWS}\n`,
    );
  });

  test.each([
    ['no_such_setting', '1', 115],
    ['allow_introspection_functions', '1', 115],
    ['readonly_typo', '1', 115],
    ['additional_table_filters', 'x', 452],
    ['additional_table_filters', "{'settlements': '1", 452],
    ['session_timezone', 'Europe/Nowhere', 452],
    ['session_timezone', "UTC'", 452],
    ['enable_scalar_subquery_optimization', '0', 115],
    ['max_execution_time', 'soon', 452],
    ['max_execution_time', '0', 452],
    ['max_memory_usage', '0', 452],
    ['readonly', '0', 452],
    ['join_use_nulls', '0', 452],
    ['format_csv_null_representation', 'x'.repeat(17), 452],
    ['decompress', '1', 48],
  ])('%s=%s is refused by name', async (name, value, code) => {
    const answer = await refusal('SELECT 1', { [name]: value });
    expect(answer).toMatch(new RegExp(`^${code} Code: ${code}\\. DB::Exception: .*${name}`));
  });

  test('lower the rows of a result: cut with limit and break, an error otherwise', async () => {
    const text = 'SELECT number FROM numbers(10)';
    expect((await door.ask(text, { limit: '2' })).text).toBe('0\n1\n');
    expect((await door.ask(text, { max_result_rows: '3', result_overflow_mode: 'break' })).text).toBe(
      '0\n1\n2\n',
    );
    expect(await refusal(text, { max_result_rows: '3' })).toMatch(/^396 .*TOO_MANY_ROWS_OR_BYTES/);
    expect(await refusal(`${text} SETTINGS max_result_rows = 3`)).toMatch(/^396 /);
    expect((await door.ask(text, { max_result_rows: '10' })).text.split('\n')).toHaveLength(11);
    // More than there is room for is no way around it.
    expect(await refusal('SELECT number FROM numbers(1000001)', { max_result_rows: '5000000' })).toMatch(
      /^396 /,
    );
  });

  test('of time choose the hold, and bound the run', async () => {
    const held = async (seconds: string) =>
      (await door.ask('SELECT count() FROM settlements', { max_execution_time: seconds })).headers.get(
        'x-units-held',
      );
    expect(await held('3')).toBe('1');
    expect(await held('15')).toBe('3');
    expect(await held('60')).toBe('12');
    expect(await held('86400')).toBe('60');
  });
});

test('a page of another site spends no remembered password, whatever its method; with a key of its own it may ask', async () => {
  const customer = await door.renew();
  const basic = { authorization: `Basic ${Buffer.from(`default:${door.key}`).toString('base64')}` };
  const ask = async (method: string, site: string | null, headers: Record<string, string>, path = '/') => {
    const url = new URL(path, door.url);
    // Constants alone are free.
    if (path === '/') url.searchParams.set('query', 'SELECT count() FROM settlements');
    // `fetch` of Node sends a header of that name as it is.
    const sent = { ...headers, ...(site === null ? {} : { 'sec-fetch-site': site }) };
    const answer = await fetch(url, { method, headers: sent });
    return [answer.status, answer.headers.get('x-clickhouse-exception-code')];
  };
  for (const method of ['GET', 'POST'])
    for (const site of ['cross-site', 'same-site', 'Cross-Site', 'cross-site, none'])
      for (const headers of [basic, {}])
        expect([method, site, await ask(method, site, headers)]).toEqual([method, site, [403, '497']]);
  expect((await customer.units()).spent).toBe(0);
  const key = { 'x-clickhouse-key': door.key };
  for (const [site, headers] of [
    ['same-origin', basic],
    ['none', basic],
    [null, basic],
    ['cross-site', key],
    ['cross-site', { 'x-api-key': door.key }],
  ] as const)
    expect([site, await ask('GET', site, headers)]).toEqual([site, [200, null]]);
  expect(await ask('GET', 'cross-site', {}, '/ping')).toEqual([200, null]);
  expect((await customer.units()).spent).toBe(5);
});

test('CSV has NULL as a ClickHouse server writes it, or as the client asks', async () => {
  expect((await door.ask('SELECT NULL, 1 FORMAT CSV')).text).toBe('\\N,1\n');
  expect((await door.ask('SELECT NULL, 1 FORMAT CSV', { format_csv_null_representation: '-' })).text).toBe(
    '-,1\n',
  );
});

describe('a refusal', () => {
  test.each([
    ['SELEC 1', 62, 'SYNTAX_ERROR'],
    ['SELECT nope FROM settlements', 47, 'UNKNOWN_IDENTIFIER'],
    ['SELECT 1 FROM nope', 60, 'UNKNOWN_TABLE'],
    ['SELECT nope(1)', 46, 'UNKNOWN_FUNCTION'],
    ["SELECT * FROM file('/etc/passwd')", 497, 'ACCESS_DENIED'],
    ["SELECT * FROM url('http://127.0.0.1/', CSV, 'x String')", 497, 'ACCESS_DENIED'],
    ['INSERT INTO settlements VALUES (1)', 164, 'READONLY'],
    ['INSERT INTO settlements FORMAT JSONEachRow\n{"a":1}', 164, 'READONLY'],
    ['CREATE TABLE t (a UInt8) ENGINE = Memory', 164, 'READONLY'],
    ['/* x */ drop table settlements', 164, 'READONLY'],
    ['SELECT payer, count() FROM settlements', 215, 'NOT_AN_AGGREGATE'],
    ['SELECT {a:UInt8}', 456, 'UNKNOWN_QUERY_PARAMETER'],
    ['SELECT sleepEachRow(1)', 46, 'UNKNOWN_FUNCTION'],
    ['', 62, 'SYNTAX_ERROR'],
  ])('of %j has status, header and text with code %i', async (text, code, name) => {
    const answer = await door.ask(text);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe(String(code));
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=UTF-8');
    expect(answer.text).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: .*\\(${name}\\)\\n$`, 's'));
    expect(answer.text).not.toMatch(/index_of_test|_public|26\.\d|version/);
  });

  test('costs nothing', async () => {
    const customer = await door.renew();
    const before = await customer.units();
    await door.ask('SELECT nope FROM settlements');
    await door.ask('SELECT 1', { no_such_setting: '1' });
    expect(await customer.units()).toEqual(before);
  });

  test('comes before any byte of a result, also when the query fails late', async () => {
    const answer = await door.ask(
      'SELECT number, throwIf(number = 90000) FROM numbers(100000) FORMAT JSONEachRow',
    );
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/^Code: \d+\. DB::Exception: /);
  });
});

describe('what tools add to a text', () => {
  test.each([
    ['SELECT 1 SETTINGS max_threads = 8, max_block_size = 100', '1'],
    ['SELECT count() FROM settlements PREWHERE log_index < 3', '3'],
    ['SELECT count() FROM settlements PREWHERE log_index < 3 WHERE log_index = 0 OR log_index = 7', '1'],
    [
      'SELECT count() FROM settlements PREWHERE log_index = 0 OR log_index = 7 WHERE log_index < 3 SETTINGS max_threads = 2 FORMAT TSV',
      '1',
    ],
    [
      'SELECT count() FROM (SELECT log_index FROM default.settlements PREWHERE log_index < 3 SETTINGS max_threads = 2) WHERE log_index > 0',
      '2',
    ],
    ['SELECT s.log_index FROM default.settlements AS s WHERE s.log_index = 4', '4'],
  ])('%s', async (text, wanted) => {
    expect((await door.ask(text)).text).toBe(`${wanted}\n`);
  });

  test.each([
    'SELECT 1 SETTINGS readonly = 0',
    'SELECT count() FROM settlements SETTINGS readonly = 1',
    'SELECT * FROM numbers(1, SETTINGS max_threads = 1)',
    'SELECT 1 SETTINGS max_rows_to_read = 0',
    "SELECT 1 FROM settlements SETTINGS additional_table_filters = {'system.tables': '1'}",
    "SELECT 1 FROM settlements SETTINGS additional_table_filters = {'settlements': '1) UNION ALL (SELECT 1'}",
    "SELECT 1 FROM settlements SETTINGS additional_table_filters = {'settlements': '1) ORDER BY (1'}",
    "SELECT 1 FROM settlements SETTINGS additional_table_filters = {'settlements': 'file(\\'/etc/passwd\\') = 1'}",
    "SELECT 1 FROM settlements SETTINGS additional_table_filters = {'settlements': '1 -- '}",
  ])('%s is refused', async (text) => {
    expect(await refusal(text)).toMatch(/^(164|62|46) /);
  });
});

describe('filters on tables, as Grafana sends them', () => {
  const filter = "{'default.settlements': 'log_index < 3'}";
  const all = 'SELECT count(), max(log_index) FROM ';

  test.each([
    `${all}settlements`,
    `${all}default.settlements`,
    `${all}\`default\`.\`settlements\` AS s WHERE s.log_index >= 0`,
    `SELECT count(), max(settlements.log_index) FROM settlements`,
    `${all}(SELECT * FROM settlements)`,
    `WITH few AS (SELECT log_index FROM settlements) ${all}few`,
    `${all}(SELECT a.log_index AS log_index FROM settlements AS a INNER JOIN settlements AS b ON a.tx_hash = b.tx_hash AND a.log_index = b.log_index)`,
  ])('hold in %s', async (text) => {
    expect((await door.ask(text, { additional_table_filters: filter })).text).toBe('3\t2\n');
    const inText = await door.ask(
      `${text} SETTINGS additional_table_filters = {'settlements': 'log_index < 3'}`,
    );
    expect(inText.text).toBe('3\t2\n');
  });

  test('hold on the right of IN, and leave other tables alone', async () => {
    const words = { additional_table_filters: filter };
    const within =
      'SELECT count() FROM (SELECT DISTINCT log_index AS n FROM settlements) WHERE n IN (SELECT log_index FROM settlements)';
    expect((await door.ask(within, words)).text).toBe('3\n');
    expect((await door.ask('SELECT count() > 0 FROM tokens', words)).text).toBe('1\n');
  });

  test('with quotes in their conditions are read as ClickHouse reads them', async () => {
    const quoted = "{'settlements': 'chain = \\'eip155:8453\\' AND log_index = 1'}";
    expect((await door.ask(`${all}settlements`, { additional_table_filters: quoted })).text).toBe('1\t1\n');
    const doubled = "{'settlements': 'chain = ''eip155:8453'' AND log_index = 1'}";
    expect((await door.ask(`${all}settlements`, { additional_table_filters: doubled })).text).toBe('1\t1\n');
  });
});

describe('a time zone', () => {
  const times =
    'SELECT toString(block_time), toString(toDate(block_time)), toTypeName(block_time) FROM settlements ORDER BY block_time LIMIT 1';

  test('shows times, days and hours of that zone, and says so', async () => {
    const utc = (await door.ask(times)).text.trim().split('\t');
    const answer = await door.ask(times, { session_timezone: 'Pacific/Kiritimati' });
    const [at, day, type] = answer.text.trim().split('\t');
    expect(answer.headers.get('x-clickhouse-timezone')).toBe('Pacific/Kiritimati');
    expect(type).toBe("DateTime(\\'Pacific/Kiritimati\\')");
    const shifted = new Date(Date.parse(`${utc[0]}Z`) + 14 * 3_600_000).toISOString();
    expect(`${at}`).toBe(shifted.slice(0, 19).replace('T', ' '));
    expect(day).toBe(shifted.slice(0, 10));
  });

  test('is that of texts which times are compared with, and of now()', async () => {
    const zone = { session_timezone: 'America/New_York' };
    const [first] = (await door.ask('SELECT toString(min(block_time)) FROM settlements', zone)).text
      .trim()
      .split('\t');
    const count = `SELECT count() > 0, countIf(block_time < '${first}') FROM settlements WHERE block_time >= '${first}'`;
    expect((await door.ask(count, zone)).text).toBe('1\t0\n');
    expect(
      (await door.ask(`SELECT count() > 0 FROM settlements WHERE block_time = toDateTime('${first}')`, zone))
        .text,
    ).toBe('1\n');
    expect((await door.ask('SELECT toString(toDateTime(0)) FROM settlements LIMIT 1', zone)).text).toBe(
      '1969-12-31 19:00:00\n',
    );
  });

  test('in the text holds as well', async () => {
    const text =
      "SELECT toTypeName(block_time) FROM settlements LIMIT 1 SETTINGS session_timezone = 'Asia/Tokyo'";
    expect((await door.ask(text)).text).toBe("DateTime(\\'Asia/Tokyo\\')\n");
  });
});

test('the port answers /ping, and an empty GET, like a server', async () => {
  for (const path of ['/ping', '/']) {
    const answer = await fetch(door.url + path);
    expect(await answer.text(), path).toBe('Ok.\n');
  }
  expect((await fetch(`${door.url}/v0/telemetry`)).status).toBe(404);
});

async function refusal(text: string, words: Record<string, string> = {}): Promise<string> {
  const { headers, text: body } = await door.ask(text, words);
  return `${headers.get('x-clickhouse-exception-code')} ${body}`;
}
