import { expect } from 'vitest';
import { SHIPPED_DASHBOARDS } from '../../../../src/operations/dashboards/shipped.ts';
import { DEPLOYMENT_QUERIES } from '../../../../src/operations/dashboards/shipped-queries.ts';
import { ANONYMOUS, type ApiAnswer } from '../../../kit/api.ts';
import { test } from '../../../kit/fixtures.ts';
import { pausableProxy } from '../../../kit/pausable-proxy.ts';
import { BASE, insertSettlements, reportChain, settlement, wallet } from '../../../kit/rows.ts';
import { type SqlApi, sqlApi } from '../../../kit/sql-api.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Dashboards over the real application, engine and control store. */

let sql: SqlApi;

const SELLER = wallet(7);
const HOUR_SECONDS = 3_600;
/** Queries ask for the time of the engine. */
const NOW = Math.floor(Date.now() / 1_000);

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await insertSettlements(
    sql.engine.writer,
    [1, 2, 3, 30].map((hours, at) =>
      settlement({
        blockNumber: 5_000_000 + at,
        blockTime: NOW - hours * HOUR_SECONDS,
        payer: wallet(100 + at),
        payee: SELLER,
      }),
    ),
  );
  await reportChain(sql.engine.writer, BASE);
});

const read = (path: string): Promise<ApiAnswer> => sql.api.get(`/v0/dashboards${path}`, ANONYMOUS);

const CHOICE = `period=24h&wallet=${SELLER}`;

test('every panel of every dashboard that comes with the service is answered without a key', async () => {
  const listed = await read('');
  expect(listed.body.dashboards.map(({ slug }: { slug: string }) => slug)).toEqual([
    ...SHIPPED_DASHBOARDS.keys(),
  ]);
  for (const { owner, slug } of listed.body.dashboards) {
    const { dashboard } = (await read(`/${owner}/${slug}?${CHOICE}`)).body;
    for (const { id, query } of dashboard.panels) {
      const panel = await read(`/${owner}/${slug}/panels/${id}?${CHOICE}`);
      expect([slug, id, panel.status, panel.body.title ?? '']).toEqual([slug, id, 200, '']);
      expect(query.sql).toBe(DEPLOYMENT_QUERIES.get(query.slug)?.content.sql);
    }
  }
});

test('the figures of a period stand next to those of the period before', async () => {
  const { body } = await read(`/index/seller/panels/figures?period=24h&chain=eip155:8453&wallet=${SELLER}`);
  const at = (name: string): string =>
    body.rows[0][body.columns.findIndex((column: { name: string }) => column.name === name)];
  expect([at('payments'), at('payments_before'), at('payers'), at('payers_before')]).toEqual([
    '3',
    '1',
    '3',
    '1',
  ]);
});

test('a panel says the text that made it and the values of its placeholders', async () => {
  const { dashboard } = (await read('/index/home?period=30d&chain=eip155:8453')).body;
  expect(dashboard).toMatchObject({ period: '30d', chain: BASE, takes: ['hours', 'chain'], is_own: false });
  expect(dashboard.panels[0].query.parameters).toEqual([
    { name: 'hours', value: '720' },
    { name: 'chain', value: BASE },
  ]);
});

test('readers at once and within the cadence share one run', async () => {
  const mark = 'AS active_facilitators';
  const before = sql.runsOf(mark);
  const path = '/index/facilitators/panels/figures?period=30d';
  const answers = await Promise.all([read(path), read(path), read(path)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const again = await read(path);
  expect([again.text, again.headers['etag']]).toEqual([answers[0]?.text, answers[0]?.headers['etag']]);
  expect(sql.runsOf(mark) - before).toBe(1);
});

test('after the cadence a reader makes it anew, and nobody else does', async () => {
  const mark = 'AS agents_with_x402';
  const path = '/index/agents/panels/figures?period=24h';
  await read(path);
  const before = sql.runsOf(mark);
  sql.api.clock.advanceSeconds(61);
  await read(path);
  expect(sql.runsOf(mark) - before).toBe(1);
});

test('with a stopped engine a panel shows the result that it has, and is 503 where it has none, until the engine is back', async ({
  sandbox,
}) => {
  const proxy = await pausableProxy(sandbox.access.url);
  const service = await sqlApi({
    engine: { ...sandbox, access: { ...sandbox.access, url: proxy.url } },
  });
  const panel = (chain: string) =>
    service.api.get(`/v0/dashboards/index/home/panels/figures?period=24h&chain=${chain}`, ANONYMOUS);
  const before = await panel(BASE);
  await proxy.stop();
  service.api.clock.advanceSeconds(HOUR_SECONDS);
  const [shown, missing] = [await panel(BASE), await panel('all')];
  await proxy.start();
  expect([before.status, shown.status, shown.text]).toEqual([200, 200, before.text]);
  expect([missing.status, missing.body.code]).toEqual([503, 'upstream_unavailable']);
  expect(missing.body.retry_after).toBe(Number(missing.headers['retry-after']));
  await waitUntil('the panel is there', async () => (await panel('all')).status === 200);
  await service.close();
  await proxy.stop();
});

test('values outside the closed lists are refused', async () => {
  const problems = await Promise.all(
    ['period=90d', 'chain=eip155:1', 'wallet=0x12', 'hours=5'].map((query) =>
      read(`/index/home/panels/figures?${query}`),
    ),
  );
  expect(problems.map(({ status, body }) => [status, body.code, body.parameter])).toEqual([
    [400, 'invalid_parameter', 'period'],
    [400, 'invalid_parameter', 'chain'],
    [400, 'invalid_parameter', 'wallet'],
    [400, 'invalid_parameter', 'hours'],
  ]);
});

test('what is not there is said', async () => {
  expect((await read('/index/nothing')).body.code).toBe('dashboard_not_found');
  expect((await read('/nobody/home')).body.code).toBe('dashboard_not_found');
  expect((await read('/index/home/panels/nothing')).body.code).toBe('dashboard_not_found');
  expect((await read('/index/seller/panels/figures')).body.code).toBe('result_not_found');
});
