import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { test } from '../../../kit/fixtures.ts';
import { jobsOf } from '../../../kit/jobs.ts';
import { BASE, reportChain } from '../../../kit/rows.ts';
import type { Customer, SqlApi } from '../../../kit/sql-api.ts';

/** Links to kept results: who makes them, who reads by them, and what ends them. */

let sql: SqlApi;
let owner: Customer;
const NOBODY = { headers: {} };

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await reportChain(sql.engine.writer, BASE);
});

test.beforeEach(async () => {
  owner = await sql.customer();
});

const SQL = 'SELECT number AS n, toString(number) AS text FROM numbers(3)';

async function share() {
  const calls = jobsOf(sql.api, owner);
  const { result } = await calls.succeeded({ sql: SQL });
  const path = `/v0/results/${result.id}/shares`;
  const made = await calls.send('POST', path, { title: 'Three numbers', chart: '{"kind":"bar"}' });
  return { calls, path, made, result: String(result.id), token: String(made.body.token) };
}

test('whoever has the link reads the result, its text and its chart without a key, in any format', async () => {
  const { made, result, token } = await share();
  expect([made.status, made.body.share.state, made.body.url]).toEqual([
    201,
    'open',
    expect.stringMatching(/\/console\/shared\/[\w-]{43}$/),
  ]);
  const visitor = jobsOf(sql.api, NOBODY);
  const shown = await visitor.send('GET', `/v0/shared/${token}`);
  expect(shown.status).toBe(200);
  expect(shown.body).toMatchObject({ title: 'Three numbers', chart: '{"kind":"bar"}', result, row_count: 3 });
  expect(shown.body.sql).toContain('numbers(3)');
  const rows = await visitor.result(result, { token, format: 'json_compact' });
  expect([rows.status, rows.body.rows]).toEqual([
    200,
    [
      ['0', '0'],
      ['1', '1'],
      ['2', '2'],
    ],
  ]);
  expect((await visitor.result(result, { token, format: 'csv' })).text).toContain('text');
  expect((await visitor.result(result, {})).status).toBe(404);
});

test('a link is for one result, and its token cannot be guessed or read from what the owner lists', async () => {
  const { calls, path, token } = await share();
  const other = await calls.succeeded({ sql: 'SELECT 1 AS one' });
  const visitor = jobsOf(sql.api, NOBODY);
  expect((await visitor.result(other.result.id, { token })).status).toBe(404);
  const guessed = randomBytes(32).toString('base64url');
  expect((await visitor.send('GET', `/v0/shared/${guessed}`)).status).toBe(404);
  const listed = await calls.send('GET', path);
  expect(listed.body.shares).toHaveLength(1);
  expect(listed.text).not.toContain(token);
});

test('a revoked link says so, and reads nothing more', async () => {
  const { calls, path, made, result, token } = await share();
  const stranger = await sql.customer();
  const link = `${path}/${made.body.share.id}`;
  expect((await jobsOf(sql.api, stranger).send('DELETE', link)).status).toBe(404);
  expect((await calls.send('DELETE', link)).body).toEqual({ id: made.body.share.id, revoked: true });
  const visitor = jobsOf(sql.api, NOBODY);
  const shown = await visitor.send('GET', `/v0/shared/${token}`);
  expect([shown.status, shown.body.code, shown.body.detail]).toEqual([
    404,
    'result_not_found',
    'This link was revoked by the one who made it.',
  ]);
  expect((await visitor.result(result, { token })).status).toBe(404);
});

test('only an organization that may read the result makes links to it', async () => {
  const { path } = await share();
  const stranger = await sql.customer();
  expect((await jobsOf(sql.api, stranger).send('POST', path, {})).status).toBe(404);
  expect((await jobsOf(sql.api, NOBODY).send('POST', path, {})).status).toBe(401);
});
