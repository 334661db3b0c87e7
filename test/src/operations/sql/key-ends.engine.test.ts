import { afterAll, expect } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import { keyDigest, mintApiKey } from '../../../../core/domain/caller.ts';
import { addKey } from '../../../kit/access.ts';
import { test } from '../../../kit/fixtures.ts';
import { jobsOf } from '../../../kit/jobs.ts';
import { type Customer, type SqlApi, sqlApi } from '../../../kit/sql-api.ts';

/** What a key leaves behind: jobs, links to results, rights that it hands on; and the key that the console lends. */

let sql: SqlApi;
const lent = mintApiKey('live');

test.beforeAll(async ({ sandbox }) => {
  const { console } = loadConfig({ env: {} });
  sql = await sqlApi({ engine: sandbox, config: { console: { ...console, visitorKey: lent } } });
});
afterAll(() => sql?.close());

const QUERY = 'SELECT 1 AS one';
const clientOf = (customer: Pick<Customer, 'headers'>) => jobsOf(sql.api, customer);

async function childOf(customer: Customer, limits: object = {}) {
  const made = await clientOf(customer).send('POST', '/v0/account/keys', { label: 'agent', ...limits });
  expect([made.status, made.text]).toEqual([201, made.text]);
  return {
    id: String(made.body.key.id),
    ...clientOf({ headers: { 'x-api-key': String(made.body.api_key) } }),
  };
}

test('a key that manages no keys lists and finds its own jobs alone, and its links end with it', async () => {
  const customer = await sql.customer();
  const manager = clientOf(customer);
  const [child, other] = [await childOf(customer, { units_per_day: 50 }), await childOf(customer)];
  const job = await child.succeeded({ sql: QUERY });
  const theirs = await manager.succeeded({ sql: QUERY });
  const listed = async ({ send }: typeof manager) =>
    (await send('GET', '/v0/sql/jobs')).body.jobs.map((one: { job: string }) => one.job).sort();
  expect(await listed(manager)).toEqual([job.job, theirs.job].sort());
  expect([await listed(child), await listed(other)]).toEqual([[job.job], []]);
  for (const method of ['GET', 'DELETE'] as const)
    for (const stranger of [child, other])
      expect((await stranger.send(method, `/v0/sql/jobs/${theirs.job}`)).body.code).toBe('job_not_found');
  const open = async (url: string) => {
    const { pathname, search } = new URL(url, 'http://service');
    return (await sql.api.app.inject({ url: `${pathname}${search}` })).statusCode;
  };
  const [ofChild, ofManager] = [job.result.signed_url, theirs.result.signed_url];
  expect([await open(ofChild), await open(ofManager)]).toEqual([200, 200]);
  await manager.send('DELETE', `/v0/account/keys/${child.id}`);
  expect([await open(ofChild), await open(ofManager)]).toEqual([404, 200]);
});

test('a key hands on no right that it lacks, and none by lifting a limit', async () => {
  const customer = await sql.customer();
  const store = sql.api.access.access.store;
  const all = { managesKeys: true, unitsPerDay: null, operations: null, madeBy: null };
  const { organizationId } = customer;
  const partial = await addKey(store, { organizationId, limits: { ...all, rights: ['changes'] } });
  const by = clientOf({ headers: { 'x-api-key': partial } });
  const account = (await by.send('GET', '/v0/account')).body.key;
  expect(account).toMatchObject({ manages_keys: true, is_lent: false, rights: ['changes'] });
  const made = async (more: object) =>
    (await by.send('POST', '/v0/account/keys', { label: 'x', ...more })).body;
  expect((await made({ rights: ['publishes'] })).code).toBe('key_restricted');
  expect((await made({})).key.rights).toEqual([]);
  expect((await made({ rights: ['changes'] })).key.rights).toEqual(['changes']);
  const limited = await childOf(customer, { units_per_day: 1 });
  const change = (key: string, body: object) => by.send('PATCH', `/v0/account/keys/${key}`, body);
  for (const [key, body] of [
    [limited.id, { clear: ['units_per_day'] }],
    [limited.id, { rights: ['schedules'] }],
    [account.id, { clear: ['rights'] }],
    [account.id, { rights: ['changes', 'publishes'] }],
  ] as const)
    expect((await change(key, body)).body.code).toBe('key_restricted');
  expect((await change(limited.id, { units_per_day: 2 })).status).toBe(200);
  expect((await childOf(customer)).id).not.toBe('');
});

test('the lent key has no history, no jobs and no saved queries, repeats no answer, and cannot call private ones of its organization', async () => {
  const customer = await sql.customer();
  const owner = clientOf(customer);
  const handle = `lent${Date.now().toString(36)}`;
  await owner.send('PUT', '/v0/account/handle', { handle });
  await owner.send('PUT', '/v0/queries/own', { sql: QUERY });
  await owner.send('PUT', '/v0/queries/open', { sql: QUERY, visibility: 'public', hide_text: true });
  await addKey(sql.api.access.access.store, {
    organizationId: customer.organizationId,
    digest: keyDigest(lent),
    limits: { managesKeys: true, unitsPerDay: null, operations: null, rights: ['changes'], madeBy: null },
  });
  const visitor = clientOf({ headers: { 'x-api-key': lent } });
  const job = `/v0/sql/jobs/${(await owner.succeeded({ sql: QUERY })).job}`;
  const refused = [
    ['POST', '/v0/sql/jobs', { sql: QUERY }],
    ['POST', '/v0/sql', { sql: QUERY, wait_seconds: 5 }],
    ['GET', job],
    ['GET', `${job}?format=events`],
    ['DELETE', job],
    ['GET', '/v0/account/queries'],
    ['DELETE', '/v0/account/queries/all'],
    ['GET', '/v0/sql/jobs'],
    ['GET', '/v0/queries'],
    ['GET', '/v0/queries/own'],
    ['DELETE', '/v0/queries/own'],
    ['PUT', '/v0/queries/new', { sql: QUERY }],
    ['PUT', '/v0/account/handle', { handle: 'other' }],
    ['POST', '/v0/account/keys', { label: 'x' }],
  ] as const;
  for (const [method, url, body] of refused) {
    const answer = await visitor.send(method, url, body);
    expect([method, url, answer.status, answer.body.code]).toEqual([method, url, 403, 'key_restricted']);
  }
  expect((await visitor.send('GET', `/v0/q/${handle}/own`)).status).toBe(404);
  expect((await visitor.send('GET', `/v0/q/${handle}/open/about`)).body.query.sql).toBeNull();
  expect((await visitor.send('GET', '/v0/account')).body.key).toMatchObject({ is_lent: true, rights: [] });
  // Two visitors that choose one Idempotency-Key: neither is refused for the other, or given its answer.
  const again = { 'idempotency-key': 'my-first-query' };
  for (const text of ['SELECT 2 AS asked', 'SELECT 3 AS asked', 'SELECT 2 AS asked']) {
    const answer = await visitor.send('POST', '/v0/sql', { sql: text }, again);
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect(answer.body.rows).toEqual([{ asked: Number(text.charAt(7)) }]);
  }
  const history = (await owner.send('GET', '/v0/account/queries')).body.queries;
  expect(history.map(({ sql: text }: { sql: string }) => text)).not.toContain('SELECT 2 AS asked');
});

test('a key of runSql asks the ClickHouse interface about the server', async () => {
  const customer = await sql.customer();
  const child = await childOf(customer, { operations: ['run_sql'] });
  for (const text of ['SELECT name FROM system.databases', 'SELECT 1'])
    expect((await child.send('GET', `/clickhouse?query=${encodeURIComponent(text)}`)).status).toBe(200);
});
