import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { test } from '../../kit/fixtures.ts';
import { type JobCalls, jobsOf } from '../../kit/jobs.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import type { Customer, SqlApi } from '../../kit/sql-api.ts';

/** Jobs and kept results over the real application, engine and control store. */

let sql: SqlApi;
let customer: Customer;
let jobs: JobCalls;

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
  customer = await sql.customer();
  jobs = jobsOf(sql.api, customer);
});

/** Runs for as long as it may. */
const endless = (): string =>
  `SELECT sum(cityHash64(a.number, b.number)) AS s_${randomUUID().slice(0, 8)} FROM numbers(1000000) AS a CROSS JOIN numbers(1000000) AS b`;
const QUICK = 'SELECT payer FROM settlements ORDER BY payer LIMIT 5';

/** The name of the column, which the text alone has. */
const nameOf = (text: string): string => /\b[a-z]_[0-9a-f]{8}/.exec(text)?.[0] ?? '?';

const heldBy = async (): Promise<readonly [number, number]> => {
  const { held, spent } = await customer.units();
  return [held, spent];
};

describe('a job', () => {
  test('is accepted at once with its units held, and charged once when it has succeeded', async () => {
    const created = await jobs.create({ sql: QUICK });
    expect(created.status).toBe(202);
    expect(['queued', 'running']).toContain(created.body.state);
    expect(created.body.usage).toEqual({ units_held: 12, units_charged: null, balance: null });
    const job = await jobs.waitFor(created.body.job);
    expect(job).toMatchObject({
      state: 'succeeded',
      query: QUICK,
      tier: 'standard',
      max_seconds: 60,
      cancel_requested: false,
      failure: null,
      progress: { percent: 100, units: 1 },
      usage: { units_held: 12, units_charged: 1, balance: 999 },
      result: { row_count: 5, truncated: false },
    });
    expect(job.progress.rows_read).toBeGreaterThan(0);
    expect(await heldBy()).toEqual([0, 1]);
    // As often as it is wanted.
    for (const format of ['json', 'csv', 'parquet'])
      expect((await jobs.result(job.result.id, { format })).status).toBe(200);
    expect(await heldBy()).toEqual([0, 1]);
  });

  test('is in the list of own queries once it has ended, and can be forgotten there', async () => {
    const job = await jobs.ended({ sql: QUICK });
    const failed = await jobs.ended({ sql: endless(), max_qu: 1 });
    const list = async () => (await jobs.send('GET', '/v0/account/queries')).body.queries;
    // Written right after the job has ended.
    await expect.poll(async () => (await list()).length).toBe(2);
    const queries = await list();
    const of = (id: string) => queries.find((run: { readonly id: string }) => run.id === `qry_${id}`);
    expect(of(failed.job)).toMatchObject({ status: 'query_failed', rows: null, units_charged: 1, max_qu: 1 });
    expect(of(job.job)).toMatchObject({ status: 'succeeded', rows: 5, units_charged: 1, sql: QUICK });
    await jobs.send('DELETE', `/v0/account/queries/qry_${job.job}`);
    expect((await jobs.send('GET', '/v0/account/queries')).body.queries).toHaveLength(1);
  });

  test('that is refused costs nothing and is not queued', async () => {
    const refused = await jobs.create({ sql: 'SELECT * FROM system.tables' });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_query']);
    expect(await heldBy()).toEqual([0, 0]);
    expect((await jobs.send('GET', '/v0/sql/jobs')).body).toEqual({ jobs: [], next_offset: null });
  });

  test('that runs out of its time fails, and its time is charged', async () => {
    const job = await jobs.ended({ sql: endless(), max_qu: 1 });
    expect(job).toMatchObject({
      state: 'failed',
      failure: { code: 'query_failed', reason: 'timeout' },
      usage: { units_held: 1, units_charged: 1 },
      result: null,
    });
    expect(await heldBy()).toEqual([0, 1]);
  });

  test('that runs is cancelled within seconds, and its used units are charged', async () => {
    const { body: created } = await jobs.create({ sql: endless() });
    const events = jobs.send('GET', `/v0/sql/jobs/${created.job}?format=events`);
    await expect
      .poll(async () => (await jobs.get(created.job)).body.progress?.rows_read ?? 0, { timeout: 20_000 })
      .toBeGreaterThan(0);
    const { progress } = (await jobs.get(created.job)).body;
    expect(progress.rows_estimate).toBeGreaterThanOrEqual(progress.rows_read);
    expect([progress.memory_bytes, progress.seconds].every((figure) => figure > 0)).toBe(true);
    const asked = await jobs.cancel(created.job);
    expect([asked.status, asked.body.cancel_requested]).toEqual([200, true]);
    const told = await events;
    expect(told.headers['content-type']).toContain('text/event-stream');
    const states = [...told.text.matchAll(/^event: job\ndata: (.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data).state,
    );
    expect(states.at(-1)).toBe('cancelled');
    expect(states).toContain('running');
    const job = (await jobs.get(created.job)).body;
    expect([job.state, job.usage.units_charged, job.result]).toEqual(['cancelled', 1, null]);
    expect(await heldBy()).toEqual([0, 1]);
    const runs = async () => (await jobs.send('GET', '/v0/account/queries')).body.queries;
    await expect.poll(runs).toMatchObject([{ status: 'cancelled', units_charged: 1 }]);
  });

  test('that waits is cancelled at once, and costs nothing', async () => {
    const running = await Promise.all([jobs.create({ sql: endless() }), jobs.create({ sql: endless() })]);
    const [one, two] = running.map(({ body }) => body.job);
    const queued = await expect
      .poll(async () => {
        const states = await Promise.all([one, two].map(async (id) => (await jobs.get(id)).body.state));
        return states.toSorted().join();
      })
      .toMatch(/queued,running/)
      .then(async () => ((await jobs.get(one)).body.state === 'queued' ? one : two));
    expect((await jobs.cancel(queued)).body).toMatchObject({
      state: 'cancelled',
      usage: { units_charged: 0 },
    });
    const other = queued === one ? two : one;
    await jobs.cancel(other);
    await jobs.waitFor(other);
    expect((await heldBy())[0]).toBe(0);
  });

  test('beyond the number of the plan is refused, and costs nothing', async () => {
    const ids = [];
    for (let at = 0; at < 2; at += 1) ids.push((await jobs.create({ sql: endless() })).body.job);
    const refused = await jobs.create({ sql: QUICK });
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect((await customer.units()).held).toBe(24);
    for (const id of ids) await jobs.cancel(id);
    for (const id of ids) await jobs.waitFor(id);
  });

  test('sent again with its Idempotency-Key is the same job', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await jobs.create({ sql: QUICK }, key);
    const again = await jobs.create({ sql: QUICK }, key);
    expect([again.status, again.body.job]).toEqual([202, first.body.job]);
    await jobs.waitFor(first.body.job);
    expect(await heldBy()).toEqual([0, 1]);
    // Neither route answers another query with its rows.
    const other = { sql: `${QUICK} LIMIT 0`, wait_seconds: 5 };
    const reused = [
      await jobs.create({ sql: other.sql }, key),
      await jobs.send('POST', '/v0/sql', other, key),
      await jobs.send('POST', '/v0/sql', { sql: other.sql }, key),
    ];
    expect(reused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(3).fill([409, 'idempotency_conflict']),
    );
  });

  test('is listed to its organization, and another one gets 404 for job, result and cancelling', async () => {
    const { job, result } = await jobs.succeeded({ sql: QUICK });
    const listed = await jobs.send('GET', '/v0/sql/jobs');
    expect(listed.body.jobs.map((one: { job: string }) => one.job)).toEqual([job]);
    const other = jobsOf(sql.api, await sql.customer());
    const anonymous = jobsOf(sql.api, { headers: {} });
    for (const stranger of [other, anonymous]) {
      expect((await stranger.get(job)).body.code).toBe('job_not_found');
      expect((await stranger.cancel(job)).body.code).toBe('job_not_found');
      expect((await stranger.result(result.id, {})).body.code).toBe('result_not_found');
      expect((await stranger.send('GET', '/v0/sql/jobs')).body.jobs).toEqual([]);
    }
    expect((await other.get(randomUUID())).status).toBe(404);
  });

  test('is given to the holder of a signed link, until that expires', async () => {
    const { result } = await jobs.succeeded({ sql: QUICK });
    const anonymous = jobsOf(sql.api, { headers: {} });
    const link = new URL(result.signed_url, 'http://localhost');
    const open = (url: string) => anonymous.send('GET', url);
    const good = await open(`${link.pathname}${link.search}&format=csv`);
    expect([good.status, good.text.split('\n').length]).toEqual([200, 7]);
    const changed = link.search.slice(0, -1) + (link.search.endsWith('A') ? 'B' : 'A');
    expect((await open(`${link.pathname}${changed}`)).status).toBe(404);
    const { result: other } = await jobs.succeeded({ sql: 'SELECT 1' });
    expect((await open(`/v0/results/${other.id}${link.search}`)).status).toBe(404);
    expect(result.signed_until).toBe('2026-11-21T12:00:00.000Z');
  });
});

describe('wait_seconds', () => {
  test('answers a quick query with its rows, charged as the job was', async () => {
    const answer = await customer.ask({ sql: QUICK, wait_seconds: 30 });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      row_count: 5,
      usage: { units_held: 12, units_charged: 1, balance: 999 },
    });
    expect((await customer.ask(QUICK)).body.rows).toEqual(answer.body.rows);
    expect(await heldBy()).toEqual([0, 2]);
  });

  test('answers 202 with the job where it takes longer, and the job goes on', async () => {
    const answer = await customer.ask({ sql: endless(), wait_seconds: 0, max_qu: 1 });
    expect(answer.status).toBe(202);
    expect((await customer.units()).held).toBe(1);
    expect(await jobs.waitFor(answer.body.job)).toMatchObject({
      state: 'failed',
      failure: { reason: 'timeout' },
    });
    expect(await heldBy()).toEqual([0, 1]);
  });

  test('fails as the query would, charged once', async () => {
    const answer = await customer.ask({ sql: endless(), wait_seconds: 30, max_qu: 1 });
    expect([answer.status, answer.body.code, answer.body.reason]).toEqual([400, 'query_failed', 'timeout']);
    expect(answer.body.usage).toMatchObject({ units_charged: 1 });
    expect(await heldBy()).toEqual([0, 1]);
  });

  test('takes the key of an organization', async () => {
    const answer = await jobsOf(sql.api, { headers: {} }).send('POST', '/v0/sql', {
      sql: QUICK,
      wait_seconds: 1,
    });
    expect(answer.status).toBe(401);
  });
});

describe('max_age', () => {
  const fresh = (): string => `SELECT count() AS n_${randomUUID().slice(0, 8)} FROM settlements`;

  test('50 equal queries at once are one run, which its payer pays for once', async () => {
    const text = `SELECT payer AS p_${randomUUID().slice(0, 8)} FROM settlements ORDER BY payer`;
    const other = await sql.customer();
    const asked = Promise.all(
      Array.from({ length: 25 }, (_, at) => customer.ask({ sql: `${text} /* ${at} */`, max_age: 60 })),
    );
    const more = await Promise.all(Array.from({ length: 25 }, () => other.ask({ sql: text, max_age: 60 })));
    const answers = await asked;
    expect([...answers, ...more].map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(new Set([...answers, ...more].map(({ body }) => JSON.stringify(body.rows))).size).toBe(1);
    expect(sql.runsOf(nameOf(text))).toBe(1);
    const spent = [(await customer.units()).spent, (await other.units()).spent];
    expect(spent).toEqual([1, 1]);
  });

  test('a kept result costs nothing to its payer, one unit to others, and then nothing', async () => {
    const text = fresh();
    const first = await customer.ask({ sql: text, max_age: 60 });
    expect(first.body.usage.units_charged).toBe(1);
    const again = await customer.ask({ sql: text, max_age: 60 });
    expect(again.body.usage.units_charged).toBe(0);
    expect([again.body.rows, again.body.result.id]).toEqual([first.body.rows, first.body.result.id]);
    const other = await sql.customer();
    const charged = [];
    for (let at = 0; at < 2; at += 1)
      charged.push((await other.ask({ sql: text, max_age: 60 })).body.usage.units_charged);
    expect(charged).toEqual([1, 0]);
    expect((await jobsOf(sql.api, other).result(first.body.result.id, {})).status).toBe(200);
    expect(sql.runsOf(nameOf(text))).toBe(1);
  });

  test('without it a query runs, whatever is kept', async () => {
    const text = fresh();
    await customer.ask({ sql: text, max_age: 60 });
    expect((await customer.ask({ sql: text })).body.usage.units_charged).toBe(1);
    expect(sql.runsOf(nameOf(text))).toBe(2);
  });

  test('parameters, texts and rows that are cut are queries of their own; comments are not', async () => {
    const text = `SELECT payer AS p_${randomUUID().slice(0, 8)} FROM settlements WHERE payer != {w:String} ORDER BY payer`;
    const ask = async (over: object) =>
      (await customer.ask({ sql: text, params: { w: 'a' }, max_age: 60, ...over })).body.usage.units_charged;
    expect(await ask({})).toBe(1);
    expect(await ask({ sql: `${text} -- the same` })).toBe(0);
    expect(await ask({ params: { w: 'b' } })).toBe(1);
    expect(await ask({ max_rows: 3 })).toBe(0);
    const cut = `SELECT payer AS c_${randomUUID().slice(0, 8)} FROM settlements ORDER BY payer`;
    expect(await ask({ sql: cut, params: {}, max_rows: 3 })).toBe(1);
    expect(await ask({ sql: cut, params: {}, max_rows: 4 })).toBe(1);
  });

  test('an older result is not taken', async () => {
    const text = fresh();
    await customer.ask({ sql: text, max_age: 60 });
    sql.api.clock.advanceSeconds(61);
    expect((await customer.ask({ sql: text, max_age: 60 })).body.usage.units_charged).toBe(1);
  });

  test('a job takes a kept result, too', async () => {
    const text = fresh();
    const first = await customer.ask({ sql: text, max_age: 60 });
    const job = await jobs.succeeded({ sql: text, max_age: 60 });
    expect([job.usage.units_charged, job.result.id]).toEqual([0, first.body.result.id]);
    expect(sql.runsOf(nameOf(text))).toBe(1);
  });

  test('a caller whose plan does not include the tier gets nothing of a result that is kept', async () => {
    const text = fresh();
    const rich = await sql.customer({ plan: 'enterprise' });
    await rich.ask({ sql: text, tier: 'deep', max_age: 60 });
    const refused = await customer.ask({ sql: text, tier: 'deep', max_age: 60 });
    expect([refused.status, refused.body.code]).toEqual([403, 'upgrade_required']);
  });
});

test('a result is removed after a week, and its job says that it is gone', async () => {
  const { job, result } = await jobs.succeeded({ sql: QUICK });
  sql.api.clock.advanceSeconds(7 * 86_400);
  expect((await jobs.result(result.id, {})).status).toBe(404);
  const { body } = await jobs.get(job);
  expect([body.state, body.result]).toEqual(['succeeded', null]);
});

test.each([
  [{ sql: QUICK, wait_seconds: -1 }, 'wait_seconds'],
  [{ sql: QUICK, wait_seconds: 56 }, 'wait_seconds'],
  [{ sql: QUICK, max_age: 'x' }, 'max_age'],
  [{ sql: QUICK, max_age: 604_801 }, 'max_age'],
  [{ sql: QUICK, max_qu: 4 }, 'max_qu'],
])('%j is refused with the name of the parameter', async (body, parameter) => {
  const refused = await customer.ask(body);
  expect([refused.status, refused.body.code, refused.body.parameter]).toEqual([
    400,
    'invalid_parameter',
    parameter,
  ]);
  expect(await heldBy()).toEqual([0, 0]);
});
