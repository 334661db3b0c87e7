import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect } from 'vitest';
import type { KeyLimits } from '../../../../src/accounts/account-store.ts';
import {
  changeAccountKey,
  listAccountKeys,
  makeAccountKey,
} from '../../../../src/operations/account/keys.ts';
import { listAccountQueries } from '../../../../src/operations/account/queries.ts';
import { getAccountUsage } from '../../../../src/operations/account/usage.ts';
import { addKey } from '../../../kit/access.ts';
import { complaints } from '../../../kit/answer-schema.ts';
import { ANONYMOUS, type ApiAnswer } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import { STREAMABLE } from '../../../kit/mcp-speakers.ts';
import { ask, type Customer, type SqlApi, sqlApi } from '../../../kit/sql-api.ts';
import { readLedger } from '../../../kit/unit-books.ts';

/** Usage, own queries and keys with limits, through the real application: gate, SQL, store. */

let sql: SqlApi;

test.beforeAll(async ({ sandbox }) => {
  sql = await sqlApi({ engine: sandbox });
});
afterAll(() => sql?.close());

type Headers = Readonly<Record<string, string>>;

const QUERY = 'SELECT count() AS n FROM settlements';
const store = () => sql.api.access.access.store;

async function send(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  headers: Headers,
  body?: unknown,
): Promise<Pick<ApiAnswer, 'status' | 'body' | 'headers' | 'text'>> {
  const answer = await sql.api.app.inject({
    method,
    url: `/v0/account${path}`,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  const named = answer.headers as Record<string, string | undefined>;
  return { status: answer.statusCode, body: answer.json(), headers: named, text: answer.payload };
}

/** A key that the customer's own key makes. */
async function childOf(customer: Customer, limits: Record<string, unknown> = {}) {
  const { status, body, headers } = await send('POST', '/keys', customer.headers, {
    label: 'agent',
    ...limits,
  });
  expect([status, headers['cache-control'], complaints(makeAccountKey.wire.output, body)]).toEqual([
    201,
    'no-store',
    [],
  ]);
  return {
    id: String(body.key.id),
    secret: String(body.api_key),
    headers: { 'x-api-key': String(body.api_key) },
  };
}

const usageOf = async (headers: Headers, group = 'operation,lane') => {
  const { status, body } = await send('GET', `/usage?group=${group}`, headers);
  expect([status, complaints(getAccountUsage.wire.output, body)]).toEqual([200, []]);
  return body;
};

const queriesOf = async (headers: Headers, query = '') => {
  const { status, body } = await send('GET', `/queries${query}`, headers);
  expect([status, complaints(listAccountQueries.wire.output, body)]).toEqual([200, []]);
  return body;
};

describe('usage', () => {
  test('shows what was charged as the ledger has it, and free calls, by what was asked for', async () => {
    const customer = await sql.customer();
    const child = await childOf(customer);
    await customer.ask(QUERY);
    await customer.ask(QUERY);
    await ask(sql.api, QUERY, child.headers);
    await customer.ask('SELECT nothing FROM settlements');
    await sql.api.get('/v0/sql/schema', { ...customer.headers });
    const body = await usageOf(customer.headers);
    const row = { day: null, key: null, usd: 0, sold_calls: 0, earned_units: 0 };
    expect(body.rows).toEqual(
      expect.arrayContaining([
        { ...row, operation: 'runSql', lane: 'units', calls: 3, units: 3 },
        { ...row, operation: 'getSqlSchema', lane: 'free', calls: 1, units: 0 },
        { ...row, operation: 'makeAccountKey', lane: 'free', calls: 1, units: 0 },
      ]),
    );
    const captures = (await readLedger(store(), customer.organizationId)).filter(
      ({ kind }) => kind === 'capture',
    );
    expect(body.totals.units).toBe(captures.reduce((sum, { units }) => sum + units, 0));
    const byKey = (await usageOf(customer.headers, 'day,key')).rows;
    expect(byKey).toContainEqual(
      expect.objectContaining({ day: '2026-11-20', key: child.id, operation: null, lane: null, units: 1 }),
    );
  });

  test('a limited key sees what it used itself, another organization and a trial key nothing of it', async () => {
    const [customer, other] = [await sql.customer(), await sql.customer()];
    const child = await childOf(customer, { units_per_day: 10 });
    await customer.ask(QUERY);
    await ask(sql.api, QUERY, child.headers);
    expect((await usageOf(child.headers)).totals.units).toBe(1);
    expect((await usageOf(customer.headers)).totals.units).toBe(2);
    expect((await usageOf(other.headers)).totals.units).toBe(0);
    const trial = { 'x-api-key': await addKey(store(), { kind: 'trial' }) };
    await sql.api.get('/v0/flows', trial);
    await sql.api.get('/v0/account', trial);
    expect((await usageOf(trial)).rows).toContainEqual(
      expect.objectContaining({ operation: 'getAccount', lane: 'trial', calls: 1, units: 0 }),
    );
  });

  test('takes days and groups as they are documented, and an account', async () => {
    const { headers } = await sql.customer();
    for (const [query, parameter] of [
      ['since=2026-02-31', 'since'],
      ['until=yesterday', 'until'],
      ['since=2026-11-02&until=2026-11-01', 'since'],
      ['group=hour', 'group'],
      ['group=day,day', 'group'],
      ['group=', 'group'],
    ] as const) {
      const answer = await send('GET', `/usage?${query}`, headers);
      expect([query, answer.status, answer.body.parameter]).toEqual([query, 400, parameter]);
    }
    const range = await send('GET', '/usage?since=2026-11-01&until=2026-11-19', headers);
    expect(range.body).toMatchObject({
      since: '2026-11-01',
      until: '2026-11-19',
      rows: [],
      truncated: false,
    });
    for (const path of ['/usage', '/queries', '/keys'])
      expect((await send('GET', path, ANONYMOUS)).body.code, path).toBe('api_key_required');
  });
});

describe('queries', () => {
  test('lists each query that was judged or run, with what became of it, and not what cost no judgement', async () => {
    const customer = await sql.customer();
    await customer.ask({ sql: 'SELECT number AS n FROM settlements LIMIT 0', max_qu: 2 });
    const ran = await customer.ask({ sql: "SELECT 'ünï' AS text", max_qu: 1 });
    expect(ran.status).toBe(200);
    await customer.ask({ sql: QUERY, explain_only: true });
    const { queries } = await queriesOf(customer.headers);
    expect(queries).toHaveLength(2);
    expect(queries.find(({ sql: text }: { sql: string }) => text.includes('ünï'))).toMatchObject({
      surface: 'http',
      tier: 'standard',
      max_qu: 1,
      units_charged: 1,
      rows: 1,
      status: 'succeeded',
      sql: "SELECT 'ünï' AS text",
      sql_cut: false,
      key: expect.stringMatching(/^key_/),
    });
    expect(queries.find(({ max_qu }: { max_qu: number }) => max_qu === 2)).toMatchObject({
      units_charged: 0,
      rows: null,
      status: 'invalid_query',
    });
  });

  test('a long text is cut, and the list says so', async () => {
    const customer = await sql.customer();
    await customer.ask(`SELECT 1 AS a -- ${'😀'.repeat(10_000)}`);
    const [run] = (await queriesOf(customer.headers)).queries;
    expect(run.sql_cut).toBe(true);
    expect(run.sql.length).toBeLessThanOrEqual(16_384);
    expect(run.sql.isWellFormed()).toBe(true);
  });

  test('pages continue where they ended', async () => {
    const customer = await sql.customer();
    for (let n = 0; n < 5; n++) await customer.ask(`SELECT ${n} AS n`);
    const found: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const page = await queriesOf(customer.headers, `?limit=2${next === '' ? '' : `&before=${next}`}`);
      found.push(...page.queries.map(({ sql: text }: { sql: string }) => text));
      next = page.next_before;
    }
    expect(found.sort()).toEqual([0, 1, 2, 3, 4].map((n) => `SELECT ${n} AS n`));
    expect((await send('GET', '/queries?before=x', customer.headers)).body.parameter).toBe('before');
  });

  test('one is forgotten, then all; a limited key sees and forgets its own alone', async () => {
    const [customer, other] = [await sql.customer(), await sql.customer()];
    const child = await childOf(customer, { operations: ['run_sql'] });
    await customer.ask('SELECT 1 AS mine');
    await customer.ask('SELECT 2 AS mine');
    await ask(sql.api, 'SELECT 3 AS theirs', child.headers);
    expect((await queriesOf(child.headers)).queries).toHaveLength(1);
    const all = (await queriesOf(customer.headers)).queries;
    expect(all).toHaveLength(3);
    const one = all.find(({ sql: text }: { sql: string }) => text === 'SELECT 1 AS mine');
    const forget = (what: string, headers: Headers) => send('DELETE', `/queries/${what}`, headers);
    expect((await forget(one.id, other.headers)).body).toEqual({ forgotten: 0 });
    expect((await forget(one.id, child.headers)).body).toEqual({ forgotten: 0 });
    expect((await forget(one.id, customer.headers)).body).toEqual({ forgotten: 1 });
    expect((await forget('all', child.headers)).body).toEqual({ forgotten: 1 });
    expect((await queriesOf(customer.headers)).queries).toHaveLength(1);
    expect((await forget('all', other.headers)).body).toEqual({ forgotten: 0 });
    expect((await forget('all', customer.headers)).body).toEqual({ forgotten: 1 });
    expect((await queriesOf(customer.headers)).queries).toEqual([]);
    expect((await forget('everything', customer.headers)).body).toMatchObject({ parameter: 'query' });
    expect((await usageOf(customer.headers)).totals.units).toBe(3);
  });
});

describe('keys', () => {
  test('a key is made, listed, changed and revoked, each on record; its secret is shown once', async () => {
    const customer = await sql.customer();
    const expires = { expires_at: '2027-01-01T00:00:00Z' };
    const child = await childOf(customer, {
      units_per_day: 5,
      operations: ['runSql', 'get_graph'],
      ...expires,
    });
    const change = await send('PATCH', `/keys/${child.id}`, customer.headers, {
      clear: ['units_per_day'],
      label: 'b',
    });
    expect([change.status, complaints(changeAccountKey.wire.output, change.body)]).toEqual([200, []]);
    expect(change.body.key).toMatchObject({
      label: 'b',
      units_per_day: null,
      operations: ['runSql', 'getGraph'],
    });
    const list = await send('GET', '/keys', customer.headers);
    expect(complaints(listAccountKeys.wire.output, list.body)).toEqual([]);
    expect(list.body.keys).toHaveLength(2);
    expect(list.body.keys).toContainEqual(
      expect.objectContaining({ id: child.id, manages_keys: false, ...expires }),
    );
    expect(list.text).not.toContain(child.secret);
    expect((await send('GET', '/keys', child.headers)).body).toMatchObject({
      keys: [{ id: child.id }],
      next_before: null,
    });
    expect((await send('DELETE', `/keys/${child.id}`, customer.headers)).body).toEqual({
      id: child.id,
      was_revoked: false,
    });
    expect((await send('DELETE', `/keys/${child.id}`, customer.headers)).body.was_revoked).toBe(true);
    expect((await send('GET', '/usage', child.headers)).body.code).toBe('invalid_api_key');
    const late = await send('PATCH', `/keys/${child.id}`, customer.headers, { label: 'c' });
    expect([late.status, late.body.code]).toEqual([404, 'key_not_found']);
    const { keys } = (await send('GET', '/keys', customer.headers)).body;
    const { history } = keys.find(({ id }: { id: string }) => id === child.id);
    expect(history.map(({ action }: { action: string }) => action)).toEqual(['revoked', 'changed', 'made']);
    expect(history[1]).toMatchObject({
      by: expect.stringMatching(/^key_/),
      set: { label: 'b', units_per_day: null },
    });
    expect(JSON.stringify(keys)).not.toContain(child.secret);
  });

  test('an expired key is refused like an unknown one', async () => {
    const customer = await sql.customer();
    const child = await childOf(customer, { expires_at: '2026-11-20T12:00:01Z' });
    expect((await send('GET', '/usage', child.headers)).status).toBe(200);
    const record = (
      await store().accounts.listKeys({ organizationId: customer.organizationId, after: null, limit: 9 })
    ).find(({ id }) => id === child.id);
    await store().accounts.changeKey({
      keyId: child.id,
      organizationId: customer.organizationId,
      set: { expiresAtMs: (record?.expiresAtMs ?? 0) - 60_000 },
      by: null,
      atMs: 0,
    });
    const answer = await send('GET', '/usage', child.headers);
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_api_key']);
  });

  test('a key over its budget of the day is refused with 429, the units left, and the time when it begins anew, at no cost', async () => {
    const customer = await sql.customer();
    const child = await childOf(customer, { units_per_day: 4 });
    expect((await ask(sql.api, { sql: QUERY, max_qu: 3 }, child.headers)).status).toBe(200);
    expect((await ask(sql.api, { sql: QUERY, max_qu: 3 }, child.headers)).status).toBe(200);
    const refused = await ask(sql.api, { sql: QUERY, max_qu: 3 }, child.headers);
    expect([refused.status, refused.body.code]).toEqual([429, 'key_budget_exhausted']);
    // It is noon.
    expect(refused.headers['retry-after']).toBe('43200');
    expect(refused.body.detail).toContain('4 QU a day and has 2 left');
    expect(refused.body.detail).toContain('at most 2 with max_qu');
    expect((await ask(sql.api, { sql: QUERY, max_qu: 2 }, child.headers)).status).toBe(200);
    expect((await customer.ask({ sql: QUERY, max_qu: 3 })).status).toBe(200);
    const { keys } = (await send('GET', '/keys', child.headers)).body;
    expect(keys[0]).toMatchObject({ units_per_day: 4, units_used_today: 3 });
    expect((await customer.units()).spent).toBe(4);
  });

  test('fifty calls at once on a budget of ten: ten units, whatever else', async () => {
    const customer = await sql.customer();
    const child = await childOf(customer, { units_per_day: 10 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask(sql.api, { sql: 'SELECT 1 AS one', max_qu: 1 }, child.headers)),
    );
    const statuses = answers.map(({ status, body }) => (status === 200 ? 'ok' : body.code));
    expect(statuses.filter((status) => status === 'ok').length).toBeLessThanOrEqual(10);
    expect(statuses).toContain('key_budget_exhausted');
    expect((await customer.units()).spent).toBeLessThanOrEqual(10);
  });

  test('a key of named operations calls these and its own account, and a refusal names them', async () => {
    const customer = await sql.customer();
    const child = await childOf(customer, { operations: ['getSqlSchema'] });
    expect((await sql.api.get('/v0/sql/schema', child.headers)).status).toBe(200);
    expect((await sql.api.get('/v0/account', child.headers)).status).toBe(200);
    for (const payment of [{}, { 'x-payment': 'signed' }] as Headers[]) {
      const refused = await ask(sql.api, QUERY, { ...child.headers, ...payment });
      expect([refused.status, refused.body.code]).toEqual([403, 'key_restricted']);
      expect(refused.body.detail).toContain('may call getSqlSchema');
    }
    const host = { host: '127.0.0.1', ...STREAMABLE };
    const params = { name: 'run_sql', arguments: { sql: QUERY } };
    const answer = await sql.api.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { ...host, ...child.headers },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    expect(answer.payload).toContain('key_restricted');
    const clickhouse = await sql.api.app.inject({
      method: 'POST',
      url: '/clickhouse/',
      headers: { 'x-clickhouse-user': 'default', 'x-clickhouse-key': child.secret },
      payload: QUERY,
    });
    expect(clickhouse.headers['x-clickhouse-exception-code']).toBe('497');
  });

  test('only a key that manages keys makes, changes and revokes any, of its own organization', async () => {
    const [customer, other] = [await sql.customer(), await sql.customer()];
    const child = await childOf(customer);
    const limited = await addKey(store(), {
      organizationId: customer.organizationId,
      limits: { ...NO_LIMITS, managesKeys: true, unitsPerDay: 5 },
    });
    const trial = await addKey(store(), { kind: 'trial' });
    const calls = (headers: Headers) => [
      send('POST', '/keys', headers, { label: 'x' }),
      send('PATCH', `/keys/${child.id}`, headers, { units_per_day: 1_000_000 }),
      send('DELETE', `/keys/${child.id}`, headers),
    ];
    for (const [headers, status, code] of [
      [child.headers, 403, 'key_restricted'],
      [{ 'x-api-key': limited }, 403, 'key_restricted'],
      [{ 'x-api-key': trial }, 401, 'api_key_required'],
      [ANONYMOUS, 401, 'api_key_required'],
    ] as const)
      for (const answer of await Promise.all(calls(headers)))
        expect([answer.status, answer.body.code]).toEqual([status, code]);
    const [, change, revoke] = await Promise.all(calls(other.headers));
    expect([change?.status, revoke?.status]).toEqual([404, 404]);
    expect((await send('GET', '/keys', child.headers)).body.keys[0]).toMatchObject({
      units_per_day: null,
      revoked_at: null,
    });
  });

  test('a key that expires hands on no more than it has', async () => {
    const customer = await sql.customer();
    const expiresAtMs = Date.parse('2026-12-01T00:00:00Z');
    const manager = {
      'x-api-key': await addKey(store(), { organizationId: customer.organizationId, expiresAtMs }),
    };
    const make = (over: Record<string, unknown>) => send('POST', '/keys', manager, { label: 'x', ...over });
    expect((await make({})).body.key.expires_at).toBe('2026-12-01T00:00:00Z');
    for (const over of [{ expires_at: '2026-12-01T00:00:01Z' }, { manages_keys: true }])
      expect((await make(over)).body.code, JSON.stringify(over)).toBe('key_restricted');
    const child = await make({});
    const cleared = await send('PATCH', `/keys/${child.body.key.id}`, manager, { clear: ['expires_at'] });
    expect(cleared.body.code).toBe('key_restricted');
    expect((await make({ expires_at: '2026-11-30T23:59:59+00:00' })).status).toBe(201);
  });

  test.for([
    [{ label: '' }, 'label'],
    [{ label: 'a\u202eb' }, 'label'],
    [{ label: 'a\u0000' }, 'label'],
    [{ label: 'x'.repeat(101) }, 'label'],
    [{ label: null }, 'label'],
    [{}, 'label'],
    [{ label: 'x', units_per_day: 0 }, 'units_per_day'],
    [{ label: 'x', units_per_day: 1.5 }, 'units_per_day'],
    [{ label: 'x', units_per_day: null }, 'units_per_day'],
    [{ label: 'x', clear: ['operations'] }, 'clear'],
    [{ label: 'x', units_per_day: '5' }, 'units_per_day'],
    [{ label: 'x', operations: [] }, 'operations'],
    [{ label: 'x', operations: ['runSql', 'dropTables'] }, 'operations'],
    [{ label: 'x', operations: 'runSql' }, 'operations'],
    [{ label: 'x', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ label: 'x', expires_at: '2027-01-01' }, 'expires_at'],
    [{ label: 'x', manages_keys: 'yes' }, 'manages_keys'],
    [{ label: 'x', manages_keys: true, units_per_day: 5 }, 'manages_keys'],
    [{ label: 'x', scope: 'all' }, 'scope'],
  ] as const)('400 for %j names %s, and makes nothing', async ([body, parameter]) => {
    const customer = await sql.customer();
    const answer = await send('POST', '/keys', customer.headers, body);
    expect([answer.status, answer.body.parameter]).toEqual([400, parameter]);
    expect((await send('GET', '/keys', customer.headers)).body.keys).toHaveLength(1);
  });

  test('a change of nothing is refused, and one of a key of an odd name is 400', async () => {
    const customer = await sql.customer();
    const empty = await send('PATCH', `/keys/key_${randomUUID()}`, customer.headers, {});
    expect([empty.status, empty.body.code]).toEqual([400, 'malformed_request']);
    const change = (body: unknown) => send('PATCH', `/keys/key_${randomUUID()}`, customer.headers, body);
    for (const clear of [[], ['label'], 'operations', ['operations', 'operations']])
      expect((await change({ clear })).body.parameter).toBe('clear');
    expect((await change({ clear: ['units_per_day'], units_per_day: 5 })).body.parameter).toBe('clear');
    const odd = await send('DELETE', '/keys/a%20b', customer.headers);
    expect([odd.status, odd.body.parameter]).toEqual([400, 'key']);
  });

  test('an agent does the same as tools, and sees that some of them change things', async () => {
    const customer = await sql.customer();
    const headers = { host: '127.0.0.1', ...STREAMABLE, ...customer.headers };
    const rpc = async (method: string, params: unknown = {}) => {
      const payload = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const answer = await sql.api.app.inject({ method: 'POST', url: '/mcp', headers, payload });
      return JSON.parse(answer.payload.replace(/^[^{]*/s, '')).result;
    };
    const call = async (name: string, given: Record<string, unknown> = {}) => {
      const result = await rpc('tools/call', { name, arguments: given });
      expect([name, result.isError ?? false, result]).toEqual([name, false, result]);
      return result.structuredContent;
    };
    const made = await call('make_account_key', { label: 'mcp', operations: ['run_sql'], units_per_day: 9 });
    await ask(sql.api, QUERY, { 'x-api-key': made.api_key });
    expect((await call('list_account_keys')).keys).toHaveLength(2);
    expect(
      (await call('change_account_key', { key: made.key.id, clear: ['units_per_day'] })).key.units_per_day,
    ).toBeNull();
    expect((await call('get_account_usage', { group: 'key' })).totals.units).toBe(1);
    expect((await call('list_account_queries')).queries).toHaveLength(1);
    expect(await call('forget_account_queries', { query: 'all' })).toEqual({ forgotten: 1 });
    expect(await call('revoke_account_key', { key: made.key.id })).toMatchObject({ was_revoked: false });
    const { tools } = await rpc('tools/list');
    const changing = tools.filter(
      ({ annotations }: { annotations: { readOnlyHint: boolean } }) => !annotations.readOnlyHint,
    );
    expect(changing.map(({ name }: { name: string }) => name)).toEqual([
      'forget_account_queries',
      'make_account_key',
      'change_account_key',
      'revoke_account_key',
      'claim_handle',
      'cancel_sql_job',
      'save_query',
      'delete_saved_query',
    ]);
  });
});

const NO_LIMITS: KeyLimits = { managesKeys: false, unitsPerDay: null, operations: null, madeBy: null };
