import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserIsThere, openPage, rowsOfChart, type WatchedPage } from '../kit/browser.ts';
import { seedConsole } from '../kit/console-seed.ts';
import { looksRight } from '../kit/console-widths.ts';
import { addManagerKey, type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { watchSecret } from '../kit/secrets-watch.ts';

/** What an account sees of itself: usage, keys, jobs and queries, in a real browser over a real service. */

const TIMEOUT_MS = 240_000;
const QUERY =
  'SELECT payee, sum(amount_usd) AS usd FROM settlements GROUP BY payee ORDER BY usd DESC LIMIT 5';

describe.skipIf(!browserIsThere())('the pages of an account', () => {
  let world: ConsoleWorld;
  let managerKey: string;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    world = await openConsole({ seed: ({ writer }) => seedConsole(writer), runsJobs: true });
    managerKey = await addManagerKey(world);
  }, TIMEOUT_MS);
  afterAll(() => world?.close());
  beforeEach(async () => {
    watched = await openPage(world.browser, world.origin);
    page = watched.page;
  });
  afterEach(() => watched.close());

  const shows = (text: string): Promise<void> => page.getByText(text).first().waitFor();
  const headers = (key = world.visitorKey): Record<string, string> => ({
    'x-api-key': key,
    'content-type': 'application/json',
  });
  const send = (path: string, body: object, key?: string) =>
    world.api.app.inject({ method: 'POST', url: `/v0${path}`, headers: headers(key), payload: body });
  const useKey = (key: string): Promise<unknown> =>
    page.addInitScript(`sessionStorage.setItem('six.key', '${key}')`);

  test('the key that all visitors share has no jobs, and the page says so', async () => {
    await page.goto('/console/account/jobs');
    await shows('This needs a key of your own');
    expect(watched.problems()).toEqual([]);
  });

  test('the page of an account without calls says what will appear', async () => {
    await useKey(managerKey);
    await page.goto('/console/account/jobs');
    await shows('No jobs in the last seven days');
    await page.goto('/console/account/saved');
    await page.getByRole('heading', { level: 1, name: 'Saved queries' }).waitFor();
    expect(watched.problems()).toEqual([]);
  });

  test(
    'a key is made with a budget, operations and a last day, its secret is shown once, and it is changed and revoked',
    async () => {
      await useKey(managerKey);
      await page.goto('/console/account/keys');
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Purpose').fill('research agent');
      await page.getByLabel('Query Units a day').fill('25');
      await page.getByLabel('Last day (UTC)').fill('2099-12-31');
      await page.getByText('May call every operation').click();
      await page.getByLabel('runSql', { exact: true }).check();
      await page.getByRole('button', { name: 'Make the key' }).click();
      const secret = page.locator('.secret-text');
      await secret.waitFor();
      const text = (await secret.textContent()) ?? '';
      watchSecret(text);
      expect(text).toMatch(/^six_live_\w{43}$/);
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
      const row = page.getByRole('row').filter({ hasText: 'research agent' });
      await row.getByText('0 of 25 QU').waitFor();
      expect(await row.textContent()).toContain('2099-12-31');
      expect(await row.textContent()).toContain('runSql');
      await looksRight(watched, 'keys');
      await page.setViewportSize({ width: 1_440, height: 900 });
      await page.reload();
      await row.waitFor();
      expect(await page.getByText(text).count()).toBe(0);
      await row.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel('Query Units a day').fill('');
      await page.getByRole('button', { name: 'Save the limits' }).click();
      await row.getByText('0 QU', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'Revoke' }).click();
      await row.getByRole('button', { name: 'Revoke “research agent”' }).click();
      await row.getByText('revoked', { exact: true }).waitFor();
      const refused = await world.api.get('/v0/account/usage', { 'x-api-key': text });
      expect(refused.status).toBe(401);
      expect(watched.problems()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'a job is listed with its state and charge, its result is downloaded without another, and a query is forgotten',
    async () => {
      await useKey(managerKey);
      // The first look at a query takes the engine of a busy machine longer than the two seconds that judging may take.
      await send('/sql', { sql: QUERY, tier: 'standard' }, managerKey);
      expect((await send('/sql/jobs', { sql: QUERY }, managerKey)).statusCode).toBe(202);
      await page.goto('/console/account/jobs');
      const row = page.getByRole('row').filter({ hasText: 'ORDER BY usd DESC' });
      await row.getByText('succeeded').waitFor();
      await row.getByText('5 rows').waitFor();
      const charged = async () => (await world.api.get('/v0/account', headers())).body.balance.available_qu;
      const before = await charged();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        row.getByRole('link', { name: 'CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/\.csv$/);
      const lines = (await streamText(await download.createReadStream())).trim().split('\n');
      expect(lines.length).toBe(6);
      expect(await charged()).toBe(before);
      await looksRight(watched, 'jobs');

      await send('/sql', { sql: 'SELECT count() FROM settlements', tier: 'standard' }, managerKey);
      await page.goto('/console/account/queries');
      const run = page.getByRole('row').filter({ hasText: 'SELECT count() FROM settlements' });
      await run.waitFor();
      await looksRight(watched, 'queries');
      await page.setViewportSize({ width: 1_440, height: 900 });
      await run.getByRole('button', { name: 'Forget' }).click();
      await run.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Forget all' }).click();
      await page.getByRole('button', { name: 'Forget all queries' }).click();
      await shows('No queries');
      expect(watched.problems()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'usage shows the units by day, operation and key, as the API counts them',
    async () => {
      await send('/sql', { sql: 'SELECT 1', tier: 'standard' });
      const { body } = await world.api.get('/v0/account/usage', headers());
      await page.goto('/console/account/usage');
      await page.getByRole('table', { name: 'Usage by operation, most units first' }).waitFor();
      await page
        .getByRole('table', { name: 'Usage by key, most units first' })
        .getByText('visitors')
        .waitFor();
      const units = page.locator('.stat', { hasText: 'Query Units' }).locator('dd');
      expect(
        Number.parseInt((await units.textContent())?.replaceAll(',', '') ?? '', 10),
      ).toBeGreaterThanOrEqual(body.totals.units);
      expect(await rowsOfChart(page, 'Query Units by day')).toBe(30);
      await looksRight(watched, 'usage');
      await page.goto('/console/account');
      await page.getByRole('heading', { level: 2, name: 'Prices' }).waitFor();
      const job = page.getByRole('row').filter({ hasText: 'createSqlJob' });
      await job.getByText('1–180 QU').waitFor();
      await job.getByText('not sold').waitFor();
      await looksRight(watched, 'account');
    },
    TIMEOUT_MS,
  );

  test.each(['visitors', 'small'])(
    'the key “%s”, which does not manage keys, sees itself and no buttons',
    async (label) => {
      if (label === 'small') {
        const made = await send('/account/keys', { label }, managerKey);
        const { api_key: key } = made.json() as { api_key: string };
        watchSecret(key);
        await useKey(key);
      }
      await page.goto('/console/account/keys');
      await shows('This key sees itself alone');
      expect(await page.getByRole('row').filter({ hasText: label }).count()).toBe(1);
      expect(await page.getByRole('row').count()).toBe(2);
      expect(await page.getByRole('button', { name: /^(New key|Revoke|Change)$/ }).count()).toBe(0);
      expect(watched.problems()).toEqual([]);
    },
  );
});

async function streamText(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array)); // a stream of a file gives bytes
  return Buffer.concat(chunks).toString('utf8');
}
