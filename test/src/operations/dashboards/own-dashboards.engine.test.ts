import { expect } from 'vitest';
import { ANONYMOUS } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import { type SavedCalls, savedOf } from '../../../kit/saved.ts';
import type { SqlApi } from '../../../kit/sql-api.ts';

/** Dashboards of organizations over the real application, engine and control store. */

let sql: SqlApi;
let owner: SavedCalls;

test.beforeAll(({ sqlService }) => {
  sql = sqlService;
});
test.beforeEach(async () => {
  owner = await savedOf(sql);
  await owner.saved('numbers', {
    sql: 'SELECT number AS n, {chain:String} AS chain FROM numbers({hours:UInt32})',
    parameters: {
      hours: { description: 'Hours.', default: 24 },
      chain: { description: 'A chain.', default: 'all' },
    },
    visibility: 'public',
    title: 'Numbers',
  });
});

const PANELS = [
  { id: 'rows', kind: 'table', title: 'Rows', width: 'half', query: 'numbers' },
  { kind: 'text', text: 'What this is.' },
];

const save = (body: object, slug = 'sales') =>
  owner.send('PUT', `/v0/dashboards/${slug}`, { panels: PANELS, ...body });
const anonymously = (path: string) => sql.api.get(`/v0/dashboards/${owner.owner}${path}`, ANONYMOUS);

test('a dashboard is saved, read by everyone where it is public, and removed', async () => {
  const saved = await save({ title: 'Sales', visibility: 'public' });
  expect([saved.status, saved.body.token, saved.body.dashboard.is_own]).toEqual([200, null, true]);
  const read = await anonymously('/sales?period=24h&chain=eip155:8453');
  expect(read.body.dashboard).toMatchObject({
    title: 'Sales',
    is_own: false,
    takes: ['hours', 'chain'],
    panels: [
      {
        id: 'rows',
        query: {
          slug: 'numbers',
          parameters: [
            { name: 'hours', value: '24' },
            { name: 'chain', value: 'eip155:8453' },
          ],
        },
      },
      { id: 'panel-2', kind: 'text', text: 'What this is.', query: null },
    ],
  });
  expect((await owner.send('DELETE', '/v0/dashboards/sales')).body).toEqual({ slug: 'sales', deleted: true });
  expect((await anonymously('/sales')).body.code).toBe('dashboard_not_found');
});

test('a panel shows the result that its owner paid for, and never runs for a reader', async () => {
  await save({ visibility: 'public' });
  const before = sql.runsOf('AS chain FROM numbers');
  expect((await anonymously('/sales/panels/rows?period=24h')).body.code).toBe('result_not_found');
  expect(sql.runsOf('AS chain FROM numbers')).toBe(before);
  await owner.call('numbers', { hours: '24' });
  const rows = await anonymously('/sales/panels/rows?period=24h');
  expect([rows.status, rows.body.row_count, rows.body.rows[0]]).toEqual([200, 24, ['0', 'all']]);
  expect((await anonymously('/sales/panels/rows?period=7d')).body.code).toBe('result_not_found');
});

test('a private dashboard is opened by its owner and by the token of its frame alone', async () => {
  const { token } = (await save({ token: 'new' })).body;
  expect((await anonymously('/sales')).body.code).toBe('dashboard_not_found');
  expect((await anonymously('/sales?token=other')).body.code).toBe('dashboard_not_found');
  expect((await anonymously(`/sales?token=${token}`)).status).toBe(200);
  expect((await owner.send('GET', `/v0/dashboards/${owner.owner}/sales`)).body.dashboard.has_token).toBe(
    true,
  );
  expect((await save({ title: 'Renamed' })).body.token).toBeNull();
  expect((await anonymously(`/sales?token=${token}`)).status).toBe(200);
  await save({ token: 'none' });
  expect((await anonymously(`/sales?token=${token}`)).body.code).toBe('dashboard_not_found');
});

test('a dashboard that others may open has no private query', async () => {
  await owner.saved('secret', { sql: 'SELECT 1 AS n' });
  const panels = [{ kind: 'table', query: 'secret' }];
  expect((await save({ panels, visibility: 'public' })).body).toMatchObject({
    code: 'invalid_parameter',
    parameter: 'panels',
  });
  expect((await save({ panels })).status).toBe(200);
  await save({ visibility: 'public' });
  await owner.saved('numbers', { sql: 'SELECT 1 AS n', visibility: 'private' });
  const { panels: shown } = (await anonymously('/sales')).body.dashboard;
  expect(shown[0].query).toBeNull();
  expect((await anonymously('/sales/panels/rows')).body.code).toBe('dashboard_not_found');
});

test('dashboards are in no list of queries, and queries in no list of dashboards', async () => {
  await save({});
  const queries = await owner.send('GET', '/v0/queries');
  expect(queries.body.queries.map(({ slug }: { slug: string }) => slug)).toEqual(['numbers']);
  const boards = await owner.send('GET', '/v0/dashboards');
  expect(boards.body.dashboards.map(({ slug }: { slug: string }) => slug)).toContain('sales');
  expect((await owner.send('GET', `/v0/q/${owner.owner}/openapi.json`)).body.paths).not.toHaveProperty(
    '/~sales',
  );
  expect(
    (await sql.api.get('/v0/dashboards', ANONYMOUS)).body.dashboards.map(
      ({ owner: of }: { owner: string }) => of,
    ),
  ).not.toContain(owner.owner);
});

test.for([
  ['no list', { panels: {} }],
  ['an unknown kind', { panels: [{ kind: 'live' }] }],
  ['a text with a query', { panels: [{ kind: 'text', query: 'numbers' }] }],
  ['a table without one', { panels: [{ kind: 'table' }] }],
  ['a query that is not saved', { panels: [{ kind: 'table', query: 'nothing' }] }],
  ['two panels of one id', { panels: [PANELS[0], PANELS[0]] }],
  ['too many panels', { panels: Array.from({ length: 25 }, () => ({ kind: 'text', text: 'x' })) }],
  ['an invisible character', { panels: [{ kind: 'text', text: 'a\u202eb' }] }],
  ['a field that it does not have', { panels: [{ kind: 'text', html: '<p>' }] }],
] as const)('%s is refused', async ([_name, body]) => {
  expect((await save(body)).body).toMatchObject({ code: 'invalid_parameter', parameter: 'panels' });
});

test('nobody takes the handle of the deployment, or one that looks like it', async () => {
  const other = await sql.customer();
  for (const handle of ['index', 'lndex']) {
    const claimed = await sql.api.app.inject({
      method: 'PUT',
      url: '/v0/account/handle',
      headers: { ...other.headers, 'content-type': 'application/json' },
      payload: { handle },
    });
    expect(claimed.json().code).toBe('invalid_parameter');
  }
});
