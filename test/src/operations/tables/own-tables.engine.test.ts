import fc from 'fast-check';
import { expect } from 'vitest';
import { OWN_TABLE_QUOTAS, OWN_TABLE_ROWS_MAX } from '../../../../core/domain/own-table.ts';
import { test } from '../../../kit/fixtures.ts';
import { jobsOf } from '../../../kit/jobs.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { BASE, insertSettlements, reportChain, settlement } from '../../../kit/rows.ts';
import type { Customer, SqlApi, SqlReply } from '../../../kit/sql-api.ts';

/** Tables of an organization's own: what is kept, who reads it and by which surface, and what a hostile file costs. */

let sql: SqlApi;
let owner: Customer;

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await reportChain(sql.engine.writer, BASE);
  await insertSettlements(sql.engine.writer, [settlement({ logIndex: 1 }), settlement({ logIndex: 2 })]);
});

test.beforeEach(async () => {
  owner = await sql.customer({ plan: 'pro' });
});

const { payer: PAYER } = settlement({});
const LABELS = `wallet,label,first_seen,amount\n${PAYER},"Exchange, one",2026-01-01T00:00:00Z,5\n0x01,Other,2026-01-02T00:00:00Z,6\n`;

async function put(
  { headers }: Pick<Customer, 'headers'>,
  name: string,
  rows: string | Buffer,
  { type = 'text/csv', types = '' } = {},
): Promise<SqlReply> {
  const query = types === '' ? '' : `?types=${encodeURIComponent(types)}`;
  const { statusCode, body } = await sql.api.app.inject({
    method: 'PUT',
    url: `/v0/tables/${name}${query}`,
    headers: { ...headers, 'content-type': type },
    payload: rows,
  });
  return { status: statusCode, headers: {}, bytes: Buffer.from(body), text: body, body: JSON.parse(body) };
}

async function rows(customer: Customer, text: string, more = {}): Promise<unknown> {
  const answer = await customer.ask({ sql: text, format: 'json_compact', ...more });
  return answer.status === 200 ? answer.body.rows : [answer.status, answer.body.code, answer.body.detail];
}

test('a file of CSV is typed by the engine and joined by every form of a name', async () => {
  const kept = await put(owner, 'labels', LABELS);
  expect([kept.status, kept.body.outcome, kept.body.table]).toEqual([
    200,
    'created',
    {
      name: 'my.labels',
      row_count: 2,
      bytes: expect.any(Number),
      columns: [
        { name: 'wallet', type: 'String' },
        { name: 'label', type: 'String' },
        { name: 'first_seen', type: 'DateTime' },
        { name: 'amount', type: 'Int64' },
      ],
      updated_at: expect.any(String),
    },
  ]);
  const asked: readonly (readonly [string, unknown])[] = [
    [
      'SELECT label, count() FROM settlements AS s JOIN my.labels AS l ON l.wallet = s.payer GROUP BY label',
      [['Exchange, one', '2']],
    ],
    [
      'SELECT labels.label FROM settlements JOIN my.labels ON labels.wallet = payer LIMIT 1',
      [['Exchange, one']],
    ],
    [
      'SELECT my.labels.label, `my`.labels.amount FROM my.labels ORDER BY 1',
      [
        ['Exchange, one', '5'],
        ['Other', '6'],
      ],
    ],
    ['SELECT count() FROM settlements WHERE payer IN (SELECT wallet FROM `my`.`labels`)', [['2']]],
    ['WITH mine AS (SELECT * FROM my.labels) SELECT count() FROM mine, my.labels AS b', [['4']]],
    [
      'SELECT a.label FROM my.labels a LEFT JOIN my.labels b USING (wallet) ORDER BY a.label LIMIT 1',
      [['Exchange, one']],
    ],
    ['SELECT count() FROM {t:Identifier}', [['2']]],
    ['SELECT toString(first_seen) FROM my.labels WHERE amount = 6', [['2026-01-02 00:00:00']]],
  ];
  for (const [text, wanted] of asked)
    expect([
      text,
      await rows(owner, text, text.includes('{t:') ? { params: { t: 'my.labels' } } : {}),
    ]).toEqual([text, wanted]);
  expect((await put(owner, 'labels', 'wallet\n0x02\n')).body.outcome).toBe('replaced');
  expect(await rows(owner, 'SELECT * FROM my.labels')).toEqual([['0x02']]);
});

test('NDJSON, Parquet and a JSON body are kept, types are corrected, names are of any script', async () => {
  const json = await put(owner, 'j', '{"кошелёк":"0x1","n":1.5}\n{"кошелёк":null,"n":2}\n', {
    type: 'application/x-ndjson',
    types: 'n:Decimal(20, 2)',
  });
  expect(json.body.table.columns).toEqual([
    { name: 'кошелёк', type: 'Nullable(String)' },
    { name: 'n', type: 'Decimal(20, 2)' },
  ]);
  expect(await rows(owner, 'SELECT `кошелёк`, n, upper(`кошелёк`) FROM my.j ORDER BY n')).toEqual([
    ['0x1', '1.5', '0X1'],
    [null, '2', null],
  ]);
  const file = await owner.ask({
    sql: "SELECT number AS n, toDateTime64('2026-01-01 00:00:00', 3, 'UTC') AS t, 'x' AS s, toDecimal64(1.5, 2) AS d FROM numbers(3)",
    format: 'parquet',
  });
  const parquet = await put(owner, 'p', file.bytes, { type: 'application/vnd.apache.parquet' });
  expect(parquet.body.table.columns.map(({ type }: { type: string }) => type)).toEqual([
    'UInt64',
    'DateTime64(3)',
    'String',
    'Decimal(18, 2)',
  ]);
  expect(await rows(owner, 'SELECT sum(n), sum(d) FROM my.p')).toEqual([['3', '4.5']]);
  const body = await jobsOf(sql.api, owner).send('PUT', '/v0/tables/b', {
    rows: 'wallet,amount\n0x1,100000000000000000001\n',
    types: 'amount:UInt256',
  });
  expect([body.status, body.body.quota.tables]).toEqual([200, 3]);
  expect(await rows(owner, 'SELECT amount + 1 FROM my.b')).toEqual([['100000000000000000002']]);
});

const cells = (count: number, value: string): string => Array.from({ length: count }, () => value).join(',');

const HOSTILE: readonly (readonly [
  string,
  string | Buffer,
  { type?: string; types?: string },
  number,
  RegExp,
])[] = [
  ['no rows', 'a,b\n', {}, 400, /cannot read rows/i],
  ['no bytes', '', {}, 400, /rows must be a text|body is empty/],
  [
    '10,000 columns',
    `${cells(10_000, 'c').replaceAll('c', () => `c${Math.random()}`.replace('.', ''))}\n${cells(10_000, '1')}\n`,
    {},
    400,
    /more than 100 columns/,
  ],
  [
    '500,000 keys',
    Array.from({ length: 300_000 }, (_, i) => `{"k${i}":1}`).join('\n'),
    { type: 'application/x-ndjson' },
    400,
    /more than 100 columns/,
  ],
  ['a name twice', 'a,a\n1,2\n', {}, 400, /Duplicate column name/],
  ['a name with a line end', '"a\nb"\n1\n', {}, 400, /cannot be named/],
  ['a name with a quote', "a'b\n1\n", {}, 400, /cannot be named/],
  ['a name that turns the line around', 'a\u202eb\n1\n', {}, 400, /cannot be named/],
  ['a long name', `${'n'.repeat(65)}\n1\n`, {}, 400, /cannot be named/],
  ['a virtual name', '_table\n1\n', {}, 400, /cannot be named/],
  ['ragged lines', 'a,b\n1,2,3\n', {}, 400, /It cannot be read/],
  ['too many rows', `a\n${'1\n'.repeat(OWN_TABLE_ROWS_MAX + 1)}`, {}, 400, /more than 100000 rows/],
  [
    'millions of empty rows',
    `{"a":1}${'{}'.repeat(3_000_000)}`,
    { type: 'application/x-ndjson' },
    400,
    /rows|memory/,
  ],
  ['a long text', `a\n${'x'.repeat(5_000)}\n`, {}, 400, /A text in it has 5000 bytes/],
  ['deep objects', `{"a":${'['.repeat(100_000)}`, { type: 'application/x-ndjson' }, 400, /It cannot be read/],
  [
    'no file of Parquet',
    'PAR1 nothing PAR1',
    { type: 'application/vnd.apache.parquet' },
    400,
    /It cannot be read/,
  ],
  [
    'a footer that is too long',
    Buffer.concat([
      Buffer.from('PAR1'),
      Buffer.alloc(50, 1),
      Buffer.from('ffffff7f', 'hex'),
      Buffer.from('PAR1'),
    ]),
    { type: 'application/vnd.apache.parquet' },
    400,
    /metadata size/,
  ],
  [
    'an array',
    '{"a":[1,2]}\n',
    { type: 'application/x-ndjson' },
    400,
    /a is of the type Array\(Int64\).*a:String/,
  ],
  ['a value of another type', 'a,b\n1,x\n', { types: 'b:UInt8' }, 400, /row 1, column b: text "x/],
  [
    'a type that is on no list',
    'a\n1\n',
    { types: 'a:AggregateFunction(sum, UInt8)' },
    400,
    /types gives a column the type/,
  ],
  [
    'a type in a type',
    'a\n1\n',
    { types: "a:String DEFAULT file('/etc/passwd')" },
    400,
    /types gives a column the type/,
  ],
  ['a column that is not there', 'a\n1\n', { types: 'b:String' }, 400, /no such column/],
  ['another media type', 'a\n1\n', { type: 'text/html' }, 415, /application\/json/],
  ['11 MB', `a\n${'x\n'.repeat(5_500_000)}`, {}, 413, /larger/],
];

test.each(HOSTILE)(
  '%s: refused with what is wrong, costs nothing and keeps nothing',
  async (_name, file, how, status, says) => {
    const answer = await put(owner, 'hostile', file, how);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(says)]);
    expect((await owner.units()).spent).toBe(0);
    expect((await jobsOf(sql.api, owner).send('GET', '/v0/tables')).body.tables).toEqual([]);
  },
);

test('a file that unpacks to gigabytes is refused within the memory of a query, and the engine lives', async () => {
  const packed = await owner.ask({
    sql: 'SELECT toUInt8(number > 5000000) AS n FROM numbers(900000)',
    format: 'parquet',
    max_rows: 900_000,
  });
  const bomb = await put(owner, 'bomb', packed.bytes, { type: 'application/vnd.apache.parquet' });
  expect([bomb.status, bomb.body.detail]).toEqual([400, 'It has more than 100000 rows.']);
  expect(await rows(owner, 'SELECT 1')).toEqual([[1]]);
});

test('functions that a long value or a large block makes slow are refused over own tables', async () => {
  await put(owner, 'texts', `t\n${'x'.repeat(4_000)}\n`);
  const answer = await owner.ask("SELECT max(length(replaceRegexpAll(t, '(x+x+)+y', t))) FROM my.texts");
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_query']);
  expect(await rows(owner, "SELECT length(t), lower(t) LIKE 'x%' FROM my.texts")).toEqual([['4000', 1]]);
});

test('jobs, files, estimates and the ClickHouse interface read them', async () => {
  await put(owner, 'labels', LABELS);
  const calls = jobsOf(sql.api, owner);
  const text = 'SELECT label FROM settlements JOIN my.labels AS l ON l.wallet = payer LIMIT 1';
  const job = await calls.succeeded({ sql: text });
  expect((await calls.result(job.result.id, { format: 'json_compact' })).body.rows).toEqual([
    ['Exchange, one'],
  ]);
  expect((await owner.ask({ sql: text, format: 'parquet' })).headers['x-row-count']).toBe('1');
  const estimate = await owner.ask({ sql: text, explain_only: true });
  expect([estimate.body.tables, estimate.body.sql.includes('my.labels AS l')]).toEqual([
    ['settlements', 'my.labels'],
    true,
  ]);
  const crossed = await owner.ask({
    sql: 'SELECT count() FROM my.labels a, my.labels b',
    explain_only: true,
  });
  expect(crossed.body.estimate.rows_joined_max).toBe(4);
  const said = await owner.ask(text);
  expect(said.body.sql).toContain('JOIN my.labels AS l');
  const clickhouse = await sql.api.app.inject({
    method: 'POST',
    url: '/clickhouse',
    headers: { 'x-clickhouse-key': owner.headers['x-api-key'] ?? '' },
    payload: 'SELECT amount FROM my.labels ORDER BY amount FORMAT CSV',
  });
  expect([clickhouse.statusCode, clickhouse.body]).toEqual([200, '5\n6\n']);
  const schema = await calls.send('GET', '/v0/sql/schema');
  expect(schema.body.own_tables.map(({ name }: { name: string }) => name)).toEqual(['my.labels']);
});

test('faults of a query name the table and its columns as the caller writes them', async () => {
  await put(owner, 'labels', LABELS);
  for (const [text, says] of [
    ['SELECT lable FROM my.labels', /lable.*(label|my\.labels has)/s],
    ['SELECT * FROM my.label', /my\.label/],
    ['SELECT wallet + 1 FROM my.labels', /my\.labels|Illegal types|type/],
    ['SELECT sum(amount), label FROM my.labels', /label/],
  ] as const) {
    const answer = await owner.ask(text);
    expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(says)]);
    expect(answer.text).not.toMatch(/my_labels_|_temporary/);
  }
});

test('a table belongs to its organization alone, by every text and through every cache', async () => {
  const stranger = await sql.customer({ plan: 'pro' });
  await put(owner, 'labels', 'secret\nfalcon\n');
  const { store } = sql.api.access.access;
  const [{ id = '' } = {}] = await store.ownTables.list(owner.organizationId);
  const calls = jobsOf(sql.api, stranger);
  const texts = [
    'SELECT * FROM my.labels',
    `SELECT * FROM my_labels_${id}`,
    `SELECT * FROM _temporary_and_external_tables.my_labels_${id}`,
    "SELECT * FROM merge('_temporary_and_external_tables', '.*')",
    'SELECT * FROM settlements WHERE payer IN my.labels',
    'WITH my AS (SELECT 1) SELECT * FROM my.labels',
  ];
  for (const headers of [stranger.headers, {}])
    for (const text of texts) {
      const answer = await jobsOf(sql.api, { headers }).send('POST', '/v0/sql', {
        sql: text,
        max_age: 3_600,
      });
      expect([text, answer.status >= 400, answer.text.includes('falcon')]).toEqual([text, true, false]);
    }
  for (const path of ['/v0/tables/labels', '/v0/tables', '/v0/sql/schema'])
    expect((await calls.send('GET', path)).text).not.toContain('secret');
  expect((await calls.send('DELETE', '/v0/tables/labels')).status).toBe(404);
  // The same text of both, kept and asked for again.
  await put(stranger, 'labels', 'secret\nsparrow\n');
  for (let round = 0; round < 2; round += 1)
    for (const [who, bird] of [
      [owner, 'falcon'],
      [stranger, 'sparrow'],
    ] as const) {
      const text = 'SELECT secret FROM my.labels';
      expect(await rows(who, text)).toEqual([[bird]]);
      expect(await rows(who, text, { max_age: 3_600 })).toEqual([[bird]]);
    }
});

test('saved queries and dashboards do not read them; a link to a result shows what its maker shows', async () => {
  await put(owner, 'labels', LABELS);
  const calls = jobsOf(sql.api, owner);
  await calls.send('PUT', '/v0/account/handle', {
    handle: `h${owner.organizationId.replaceAll(/\W/g, '').slice(-12)}`,
  });
  for (const visibility of ['public', 'private']) {
    const saved = await calls.send('PUT', '/v0/queries/mine', { sql: 'SELECT * FROM my.labels', visibility });
    expect([saved.status, saved.body.code, saved.body.hint]).toEqual([
      400,
      'invalid_query',
      expect.stringContaining('not by saved queries'),
    ]);
  }
  const { result } = await calls.succeeded({ sql: 'SELECT label FROM my.labels ORDER BY label' });
  expect((await jobsOf(sql.api, await sql.customer()).result(result.id, {})).status).toBe(404);
  const link = await calls.send('POST', `/v0/results/${result.id}/shares`, {});
  const shown = await jobsOf(sql.api, { headers: {} }).send('GET', `/v0/shared/${link.body.token}`);
  expect(shown.body.sql).toBe('SELECT label FROM my.labels AS labels ORDER BY label ASC');
});

test('a table is gone when it is deleted, and a quota bounds how many there are', async () => {
  const free = await sql.customer();
  const calls = jobsOf(sql.api, free);
  const { tables } = OWN_TABLE_QUOTAS.free;
  for (let at = 0; at < tables; at += 1) expect((await put(free, `t${at}`, 'a\n1\n')).status).toBe(200);
  const above = await put(free, 'above', 'a\n1\n');
  expect([above.status, above.body.code]).toEqual([409, 'table_limit']);
  expect((await put(free, 't0', 'a\n2\n')).status).toBe(200);
  expect((await calls.send('DELETE', '/v0/tables/t0')).body).toEqual({ name: 't0', deleted: true });
  expect((await calls.send('GET', '/v0/tables/t0')).status).toBe(404);
  expect(await rows(free, 'SELECT * FROM my.t0')).toEqual([400, 'invalid_query', expect.any(String)]);
  expect((await put(free, 'above', 'a\n1\n')).status).toBe(200);
  for (const { headers } of [{ headers: {} }])
    expect((await put({ headers }, 'x', 'a\n1\n')).status).toBe(401);
});

test('own tables of organizations never mix, in any order of uploads, deletions and questions', async () => {
  const people = await Promise.all([0, 1, 2].map(() => sql.customer({ plan: 'pro' })));
  const step = fc.record({
    who: fc.nat(2),
    name: fc.constantFrom('a', 'b'),
    what: fc.constantFrom('put', 'put', 'remove', 'ask', 'ask', 'ask'),
  });
  const known = people.map((person) => ({ person, own: new Map<string, number>() }));
  let next = 0;
  const take = async ({ person, own }: (typeof known)[number], name: string, what: string): Promise<void> => {
    if (what === 'put') {
      next += 1;
      await put(person, name, `n\n${next}\n`);
      own.set(name, next);
      return;
    }
    if (what === 'remove') {
      await jobsOf(sql.api, person).send('DELETE', `/v0/tables/${name}`);
      own.delete(name);
      return;
    }
    const kept = own.get(name);
    const answer = await rows(person, `SELECT n FROM my.${name}`, next % 2 === 0 ? { max_age: 60 } : {});
    expect(answer).toEqual(
      kept === undefined ? [400, 'invalid_query', expect.any(String)] : [[String(kept)]],
    );
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 12 }), async (steps) => {
      for (const { who, name, what } of steps)
        for (const one of known.slice(who, who + 1)) await take(one, name, what);
    }),
    { numRuns: lengthOf('engineProperties') * 3 },
  );
});
