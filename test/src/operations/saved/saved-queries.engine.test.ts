import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Schemas } from '../../../../client/index.ts';
import { ANONYMOUS } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../../kit/rows.ts';
import { type SavedCalls, savedOf } from '../../../kit/saved.ts';
import type { SqlApi } from '../../../kit/sql-api.ts';

type UsageRow = Schemas['UsageRow'];

/** Saved queries over the real application, engine and control store. */

let sql: SqlApi;
let author: SavedCalls;

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await insertSettlements(
    sql.engine.writer,
    Array.from({ length: 20 }, (_, at) =>
      settlement({ blockNumber: 1_000 + at, blockTime: NOON + at, payer: wallet(at) }),
    ),
  );
  await reportChain(sql.engine.writer, BASE);
});

test.beforeEach(async () => {
  author = await savedOf(sql);
});

const NUMBERS = 'SELECT number AS n FROM numbers({count:UInt16}) ORDER BY n';
const COUNTED = { sql: NUMBERS, parameters: { count: { description: 'How many.', default: 3 } } };

/** A text of its own, so that no other test made its result. */
const ownText = (): string => `SELECT {x:String} AS x, 'mark ${randomUUID()}' AS mark`;

const spent = async ({ customer }: SavedCalls): Promise<number> => (await customer.units()).spent;

test('a query is saved, called with its parameters, and answered from its kept result', async () => {
  const body = await author.saved('numbers', COUNTED);
  expect(body).toMatchObject({
    outcome: 'created',
    query: {
      owner: author.owner,
      slug: 'numbers',
      version: 1,
      sql: NUMBERS,
      visibility: 'private',
      parameters: [
        {
          name: 'count',
          type: 'UInt16',
          description: 'How many.',
          required: false,
          default: '3',
          example: null,
        },
      ],
    },
  });
  const first = await author.call('numbers');
  expect([first.status, first.body.rows]).toEqual([200, [{ n: '0' }, { n: '1' }, { n: '2' }]]);
  expect(first.body).toMatchObject({
    owner: author.owner,
    slug: 'numbers',
    version: 1,
    row_count: 3,
    total_rows: 3,
  });
  expect([first.headers['x-units-charged'], await spent(author)]).toEqual(['1', 1]);
  const again = await author.call('numbers');
  expect([again.text, again.headers['etag']]).toEqual([first.text, first.headers['etag']]);
  expect([again.headers['x-units-charged'], await spent(author)]).toEqual(['0', 1]);
  expect((await author.call('numbers', { count: '1' })).body.rows).toEqual([{ n: '0' }]);
  const known = await author.call('numbers', {}, { 'if-none-match': String(first.headers['etag']) });
  expect([known.status, known.text]).toEqual([304, '']);
});

test('every format has the same rows, and pages follow each other', async () => {
  await author.saved('numbers', { ...COUNTED, parameters: { count: { default: 5 } } });
  const csv = await author.call('numbers', { format: 'csv' });
  expect([csv.headers['content-type'], csv.text]).toEqual([
    'text/csv; charset=utf-8; header=present',
    '"n"\n0\n1\n2\n3\n4\n',
  ]);
  expect((await author.call('numbers', { format: 'ndjson' })).text).toBe(
    '{"n":"0"}\n{"n":"1"}\n{"n":"2"}\n{"n":"3"}\n{"n":"4"}\n',
  );
  expect((await author.call('numbers', { format: 'json_compact' })).body.rows).toEqual([
    ['0'],
    ['1'],
    ['2'],
    ['3'],
    ['4'],
  ]);
  expect((await author.call('numbers', { format: 'parquet' })).bytes.subarray(0, 4).toString()).toBe('PAR1');
  expect((await author.call('numbers', { format: 'arrow' })).bytes.length).toBeGreaterThan(100);
  expect((await author.call('numbers', {}, { accept: 'text/csv' })).text).toBe(csv.text);
  const page = await author.call('numbers', { limit: '2' });
  expect([page.body.rows, page.body.next_offset]).toEqual([[{ n: '0' }, { n: '1' }], 2]);
  const next = await author.call('numbers', { limit: '2', offset: '2' });
  expect([next.body.rows, next.body.next_offset]).toEqual([[{ n: '2' }, { n: '3' }], 4]);
  const last = await author.call('numbers', { limit: '2', offset: '4' });
  expect([last.body.rows, last.body.next_offset]).toEqual([[{ n: '4' }], null]);
  expect(new Set([page, next, last].map(({ headers }) => headers['etag'])).size).toBe(3);
  for (const answer of [csv, page])
    expect(Object.keys(answer.headers).filter((name) => /sql|result-id|warnings/.test(name))).toEqual([]);
});

test('a wrong parameter is 400 with its name, and costs nothing', async () => {
  await author.saved('numbers', {
    sql: 'SELECT {count:UInt16} AS a, {day:Date} AS b, {flags:Array(Bool)} AS c, {name:String} AS d',
    parameters: {
      count: { default: 3 },
      day: { default: '2026-01-01' },
      flags: { default: [true] },
      name: { example: 'x' },
    },
  });
  const cases: [Record<string, string>, string][] = [
    [{ name: 'x', count: 'many' }, 'count'],
    [{ name: 'x', count: '65536' }, 'count'],
    [{ name: 'x', count: '-1' }, 'count'],
    [{ name: 'x', count: '' }, 'count'],
    [{ name: 'x', day: '2026-02-31' }, 'day'],
    [{ name: 'x', flags: 'yes' }, 'flags'],
    [{ name: 'x', flags: '[true,2]' }, 'flags'],
    [{}, 'name'],
    [{ name: 'x', other: '1' }, 'other'],
    [{ name: 'x', format: 'xml' }, 'format'],
    [{ name: 'x', limit: '0' }, 'limit'],
    [{ name: 'x', version: 'latest' }, 'version'],
    [{ name: 'x', arguments: '[1]' }, 'arguments'],
    [{ name: 'x', arguments: '{"name":"y"}' }, 'name'],
    [{ name: 'x', arguments: '{"nam":"y"}' }, 'nam'],
  ];
  for (const [query, parameter] of cases) {
    const answer = await author.call('numbers', query);
    expect([answer.status, answer.body.code, answer.body.parameter]).toEqual([
      400,
      'invalid_parameter',
      parameter,
    ]);
  }
  const twice = await author.send('GET', `/v0/q/${author.owner}/numbers?name=x&name=y`);
  expect([twice.status, twice.body.parameter]).toEqual([400, 'name']);
  expect(await spent(author)).toBe(0);
  const good = await author.call('numbers', { name: 'y', flags: 'true,false', count: '7' });
  expect(good.body.rows).toEqual([{ a: 7, b: '2026-01-01', c: [true, false], d: 'y' }]);
});

test('versions never change, and each can be called', async () => {
  await author.saved('q', { sql: "SELECT 'one' AS v" });
  expect((await author.saved('q', { sql: "SELECT 'one' AS v" })).outcome).toBe('unchanged');
  expect((await author.saved('q', { sql: "SELECT 'two' AS v" })).query.version).toBe(2);
  expect((await author.saved('q', { sql: "SELECT 'two' AS v", price_qu: 5 })).outcome).toBe('changed');
  const rows = async (query: Record<string, string>) => (await author.call('q', query)).body.rows;
  expect(await rows({})).toEqual([{ v: 'two' }]);
  expect(await rows({ version: '1' })).toEqual([{ v: 'one' }]);
  expect((await author.call('q', { version: '3' })).body.code).toBe('query_not_found');
  const { body } = await author.send('GET', '/v0/queries/q/versions');
  expect(body.versions.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
  expect((await author.send('DELETE', '/v0/queries/q')).body).toEqual({ slug: 'q', deleted: true });
  expect((await author.send('DELETE', '/v0/queries/q')).status).toBe(404);
  expect((await author.call('q')).status).toBe(404);
  expect((await author.saved('q', { sql: "SELECT 'three' AS v" })).query.version).toBe(3);
  expect((await author.call('q', { version: '1' })).status).toBe(404);
});

test('a query that the sandbox refuses is not saved', async () => {
  const refusals: [object, string, string | undefined][] = [
    [{ sql: 'SELECT * FROM system.tables' }, 'invalid_query', undefined],
    [{ sql: 'SELECT nothing_of_that_name FROM settlements' }, 'invalid_query', undefined],
    [{ sql: 'DROP TABLE settlements' }, 'invalid_query', undefined],
    [
      { sql: 'SELECT {t:Identifier} AS x', parameters: { t: { default: 'a' } } },
      'invalid_parameter',
      'parameters',
    ],
    [
      { sql: 'SELECT {t:Map(String,String)} AS x', parameters: { t: { default: 'a' } } },
      'invalid_parameter',
      'parameters',
    ],
    [{ sql: 'SELECT {x:UInt8} AS x' }, 'invalid_query', undefined],
    [{ sql: 'SELECT {x:UInt8} AS x', parameters: { x: {} } }, 'invalid_parameter', 'parameters'],
    [
      { sql: 'SELECT {x:UInt8} AS x', parameters: { x: { default: 256 } } },
      'invalid_parameter',
      'parameters',
    ],
    [{ sql: 'SELECT 1 AS x', parameters: { x: { default: 1 } } }, 'invalid_parameter', 'parameters'],
    [
      { sql: 'SELECT {limit:UInt8} AS x', parameters: { limit: { default: 1 } } },
      'invalid_parameter',
      'parameters',
    ],
    [
      { sql: "SELECT '{x:UInt8}' AS x -- {x:UInt8}", parameters: { x: { default: 1 } } },
      'invalid_parameter',
      'parameters',
    ],
    [{ sql: `SELECT {a:${' '.repeat(60_000)}` }, 'invalid_query', undefined],
    [
      { sql: 'SELECT {x:UInt8} + {x:UInt16} AS x', parameters: { x: { default: 1 } } },
      'invalid_parameter',
      'sql',
    ],
    [{ sql: 'SELECT 1', tier: 'deep' }, 'upgrade_required', undefined],
    [
      { sql: 'SELECT 1', refresh_seconds: 3_600, freshness_seconds: 60 },
      'invalid_parameter',
      'freshness_seconds',
    ],
    [{ sql: 'SELECT 1', refresh_seconds: 60 }, 'invalid_parameter', 'refresh_seconds'],
    [{ sql: 'SELECT 1', visibility: 'hidden' }, 'invalid_parameter', 'visibility'],
    ...['a\u202eb', 'a\u200bb', 'a\u061cb', 'a\nb', '\ufeffab'].map((title): [object, string, string] => [
      { sql: 'SELECT 1', title },
      'invalid_parameter',
      'title',
    ]),
    [{ sql: 'SELECT 1', description: 'a\u2066b' }, 'invalid_parameter', 'description'],
    [{ sql: 'SELECT 1 /* \u202e */' }, 'invalid_parameter', 'sql'],
    [{}, 'invalid_parameter', 'sql'],
  ];
  for (const [body, code, parameter] of refusals) {
    const answer = await author.save('q', body);
    expect([body, answer.body.code, answer.body.parameter]).toEqual([body, code, parameter]);
  }
  expect((await author.send('GET', '/v0/queries')).body).toEqual({
    owner: author.owner,
    queries: [],
    next_after: null,
  });
  expect(await spent(author)).toBe(0);
});

test('only its organization finds a private query, and no answer tells others that it exists', async () => {
  await author.saved('secret', { sql: ownText(), parameters: { x: { example: 'a' } } });
  const other = await savedOf(sql);
  for (const headers of [other.customer.headers, ANONYMOUS]) {
    const ask = (url: string) => sql.api.get(url, { ...headers });
    for (const path of ['', '/about', '?x=1', '?version=1', '?wrong=1']) {
      const there = await ask(`/v0/q/${author.owner}/secret${path}`);
      const absent = await ask(`/v0/q/${author.owner}/absent${path}`);
      expect([path, there.status, there.body.code]).toEqual([path, 404, 'query_not_found']);
      expect(there.body.detail).toBe(absent.body.detail);
    }
    expect((await ask(`/v0/q/${author.owner}/openapi.json`)).status).toBe(404);
    expect((await ask('/v0/q?search=secret')).body.queries).toEqual([]);
  }
  for (const path of ['', '/versions', '/refreshes'])
    expect((await other.send('GET', `/v0/queries/secret${path}`)).status).toBe(404);
  expect((await other.send('DELETE', '/v0/queries/secret')).status).toBe(404);
  expect((await author.call('secret', { x: 'a' })).status).toBe(200);
});

test('any caller with its address can call an unlisted query, which is on no list of others', async () => {
  await author.saved('shared', {
    sql: ownText(),
    parameters: { x: { default: 'a' } },
    visibility: 'unlisted',
  });
  const other = await savedOf(sql);
  const url = `/v0/q/${author.owner}/shared`;
  expect((await other.send('GET', url)).status).toBe(200);
  expect((await other.send('GET', `${url}/about`)).body.query.visibility).toBe('unlisted');
  expect((await other.send('GET', `/v0/q?search=${author.owner}`)).body.queries).toEqual([]);
  expect((await other.send('GET', `/v0/q/${author.owner}/openapi.json`)).status).toBe(404);
  expect((await author.send('GET', `/v0/q/${author.owner}/openapi.json`)).body.paths).toHaveProperty([
    url.slice(3),
  ]);
  await author.saved('shared', {
    sql: ownText(),
    parameters: { x: { default: 'a' } },
    visibility: 'private',
  });
  // An earlier version is no way around it.
  expect((await other.send('GET', `${url}?version=1`)).status).toBe(404);
});

test('no answer, failure, header or document shows a hidden text to another organization', async () => {
  const mark = `mark${randomUUID().replaceAll('-', '')}`;
  const text = `SELECT {x:String} AS x, toUInt8({x:String}) AS y, 1 AS ${mark.slice(0, 20)} WHERE '${mark}' != ''`;
  const common = { parameters: { x: { default: '1' } }, visibility: 'public', hide_text: true };
  await author.saved('hidden', { sql: text, ...common });
  const other = await savedOf(sql);
  const url = `/v0/q/${author.owner}/hidden`;
  const answers = [
    await other.send('GET', url),
    await other.send('GET', `${url}?format=csv`),
    await other.send('GET', `${url}?x=boom`),
    await other.send('GET', `${url}?x=${encodeURIComponent("'")}`),
    await other.send('GET', `${url}/about`),
    await other.send('GET', `/v0/q/${author.owner}/openapi.json`),
    await other.send('GET', `/v0/q?search=hidden`),
    await other.send('GET', '/v0/account/queries'),
    await sql.api.get(`${url}?x=boom`, { ...ANONYMOUS }),
  ];
  for (const answer of answers) {
    const all = `${answer.text} ${JSON.stringify(answer.headers)}`;
    expect(all).not.toContain(mark);
    expect(all).not.toContain('toUInt8');
    expect(all).not.toContain('WHERE');
  }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400, 200, 200, 200, 200, 401]);
  expect(answers[2]?.body).toMatchObject({ code: 'query_failed' });
  expect(answers[4]?.body.query.sql).toBeNull();
  expect((await author.send('GET', `${url}/about`)).body.query.sql).toBe(text);
  await author.saved('hidden', { sql: text, ...common, hide_text: false });
  expect((await other.send('GET', `${url}/about`)).body.query.sql).toBe(text);
});

test('others pay the run and the price of the author, who gets it in units', async () => {
  await author.saved('sold', {
    sql: ownText(),
    parameters: { x: { default: 'a' } },
    visibility: 'public',
    price_qu: 4,
  });
  const buyer = await savedOf(sql);
  const url = `/v0/q/${author.owner}/sold`;
  const before = await author.customer.units();
  const first = await buyer.send('GET', url);
  expect([first.status, first.headers['x-units-charged'], first.headers['x-units-held']]).toEqual([
    200,
    '5',
    '5',
  ]);
  const warm = await buyer.send('GET', url);
  expect([warm.headers['x-units-charged'], warm.text]).toEqual(['5', first.text]);
  // A call that is charged gets the whole answer.
  const tagged = await buyer.send('GET', url, undefined, { 'if-none-match': String(first.headers['etag']) });
  expect([tagged.status, tagged.text]).toEqual([200, first.text]);
  expect(await spent(buyer)).toBe(15);
  const after = await author.customer.units();
  expect([after.granted - before.granted, after.spent]).toEqual([12, 0]);
  const usage = async (who: SavedCalls) =>
    (await who.send('GET', '/v0/account/usage?group=operation,lane')).body.rows.map(
      ({ operation, lane, calls, units, sold_calls: sold, earned_units: earned }: UsageRow) => [
        operation,
        lane,
        [calls, units],
        [sold, earned],
      ],
    );
  expect(await usage(author)).toContainEqual(['callSavedQuery', 'earned', [0, 0], [3, 12]]);
  expect(await usage(buyer)).toContainEqual(['callSavedQuery', 'units', [3, 15], [0, 0]]);
  // The author's own calls give no share, and a kept answer costs nothing.
  expect((await author.call('sold')).headers['x-units-charged']).toBe('0');
  // Nor does a call that fails.
  expect((await buyer.send('GET', `${url}?other=1`)).status).toBe(400);
  expect((await author.customer.units()).granted).toBe(after.granted);
});

test('fifty equal calls at once are one execution, and a hundred later ones none', async () => {
  const text = ownText();
  const mark = text.slice(-50);
  await author.saved('crowd', { sql: text, parameters: { x: { default: 'a' } }, visibility: 'unlisted' });
  // An organization asks for at most 30 runs a minute, also for one that it shares.
  const buyer = await sql.customer();
  const crowd = await Promise.all(
    Array.from({ length: 50 }, (_, at) => author.call('crowd', {}, at % 2 === 0 ? {} : buyer.headers)),
  );
  expect([...new Set(crowd.map(({ status, text: body }) => `${status} ${body}`))]).toHaveLength(1);
  expect(crowd[0]?.status).toBe(200);
  // The first caller pays for the run, the other organization for an answer each time.
  expect(sql.runsOf(mark)).toBe(1);
  const before = await spent(author);
  expect(before).toBeLessThanOrEqual(1);
  expect((await buyer.units()).spent).toBe(25);
  for (let at = 0; at < 100; at += 1)
    expect((await author.call('crowd')).headers['x-units-charged']).toBe('0');
  expect([sql.runsOf(mark), await spent(author)]).toEqual([1, before]);
});

test('a handle is chosen once, by a key that manages keys, and none that looks like another', async () => {
  const taken = author.owner;
  const plain = await sql.customer();
  const send = async (body: object, headers: Readonly<Record<string, string>> = plain.headers) => {
    const answer = await sql.api.app.inject({
      method: 'PUT',
      url: '/v0/account/handle',
      headers: { ...headers, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    return [answer.statusCode, answer.json().code ?? answer.json().handle];
  };
  for (const handle of [
    'Acme',
    'a',
    'acme_',
    '-acme',
    '1acme',
    'admin',
    'adm1n',
    'x-4-0-2x'.slice(0, 2),
    'a'.repeat(33),
  ])
    expect([handle, ...(await send({ handle }))]).toEqual([handle, 400, 'invalid_parameter']);
  expect(await send({ handle: taken })).toEqual([409, 'handle_taken']);
  expect(await send({ handle: `${taken.slice(0, 2)}-${taken.slice(2)}` })).toEqual([409, 'handle_taken']);
  expect(await send({ handle: 'acme' }, ANONYMOUS)).toEqual([401, 'api_key_required']);
  const own = `p${taken.slice(1)}`;
  expect(await send({ handle: own })).toEqual([200, own]);
  expect(await send({ handle: own })).toEqual([200, own]);
  expect(await send({ handle: `${own}x` })).toEqual([409, 'handle_taken']);
  const nameless = await sql.customer();
  const answer = await sql.api.app.inject({
    method: 'PUT',
    url: '/v0/queries/q',
    headers: { ...nameless.headers, 'content-type': 'application/json' },
    payload: JSON.stringify({ sql: 'SELECT 1' }),
  });
  expect([answer.statusCode, answer.json().code]).toEqual([409, 'handle_required']);
});

test('lists are short and paged: public queries of everyone and own ones in one order, each once', async () => {
  const [one, other] = [await savedOf(sql), await savedOf(sql)];
  const word = `w${randomUUID().slice(0, 8)}`;
  const long = `SELECT 1 AS x /* ${'long '.repeat(5_000)} */`;
  for (const [at, author] of [one, other, one, other, one].entries())
    await author.saved(`s${at}`, {
      sql: long,
      title: `${word} ${at}`,
      description: 'd'.repeat(1_900),
      visibility: 'public',
    });
  await one.saved('hers', { sql: long, title: word });
  const walk = async (headers: Record<string, string>, limit: number) => {
    const found: string[] = [];
    for (let before = ''; ; ) {
      const url = `/v0/q?search=${word}&limit=${limit}${before === '' ? '' : `&before=${before}`}`;
      const { text, body } = await sql.api.get(url, headers);
      expect(text.length).toBeLessThan(limit * 1_500 + 1_000);
      found.push(
        ...body.queries.map(({ owner, slug }: { owner: string; slug: string }) => `${owner} ${slug}`),
      );
      if (body.next_before === null) return found;
      before = body.next_before;
    }
  };
  const open = [0, 1, 2, 3, 4].map((at) => `${(at % 2 === 0 ? one : other).owner} s${at}`).sort();
  for (const limit of [1, 2, 10]) {
    expect(await walk({ 'x-api-key': '' }, limit)).toEqual(open);
    expect(await walk({ ...one.customer.headers }, limit)).toEqual([...open, `${one.owner} hers`].sort());
    expect(await walk({ ...other.customer.headers }, limit)).toEqual(open);
  }
  const { body } = await sql.api.get(`/v0/q?search=${word}%20s4&limit=1`, { 'x-api-key': '' });
  expect(body.queries[0]).toMatchObject({
    title: `${word} 4`,
    description: 'd'.repeat(300),
    price: { warm_qu: 1 },
  });
  expect(body.queries[0]).not.toHaveProperty('sql');
});
