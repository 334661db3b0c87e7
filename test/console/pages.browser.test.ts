import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserIsThere, openPage, rowsOfChart, type WatchedPage } from '../kit/browser.ts';
import {
  HOSTILE_NAME,
  LARGE_USD_TEXT,
  readSolanaInPart,
  SHOP_NAME,
  seedConsole,
} from '../kit/console-seed.ts';
import { askForFewRows, FEW_ROWS, looksRight } from '../kit/console-widths.ts';
import { type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { IS_PUSH } from '../kit/lengths.ts';
import { SHOP } from '../kit/market.ts';
import { SOLANA } from '../kit/rows.ts';

/** The pages of the console in a real browser, over a real engine with a market in it. */

/** Longer than every interval of the page. */
const POLLS_WITHIN_MS = 15_000;

/** Pages that no other file looks at, with a text that only an answer of the API can have put on them. */
const PAGES: readonly (readonly [name: string, path: string, shows: string])[] = [
  ['home-unranked', '/console', 'Payments are being added up for the first time'],
  ['merchants-unranked', '/console/merchants', 'Payments are being added up for the first time'],
  ['agents', '/console/agents', SHOP_NAME],
  ['leaderboard', '/console/leaderboard', '2 scored on this page'],
  ['capability', '/console/capabilities/weather', 'Agents that claim this capability'],
  ['status', '/console/status', 'Sources of the endpoint catalogue'],
  ['coverage', '/console/coverage', 'of blocks read whole'],
  ['coverage-in-part', `/console/coverage?chain=${SOLANA}`, 'Blocks read whole'],
  ['account', '/console/account', 'SQL tiers'],
];

describe.skipIf(!browserIsThere())('the pages of the console', () => {
  let world: ConsoleWorld;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    world = await openConsole({
      chains: 'base,polygon,solana',
      seed: async ({ writer }) => {
        await seedConsole(writer);
        await readSolanaInPart(writer);
      },
    });
  });
  afterAll(() => world?.close());
  beforeEach(async () => {
    watched = await openPage(world.browser, world.origin);
    page = watched.page;
    await askForFewRows(page);
  });
  afterEach(() => watched.close());

  const shows = (text: string): Promise<void> =>
    page.getByText(text).filter({ visible: true }).first().waitFor();

  test.each(PAGES)(
    '%s shows rows of the index, in both themes and on a narrow screen, and sends no request to other hosts',
    async (name, path, text) => {
      await page.goto(path);
      await shows(text);
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await looksRight(watched, name);
    },
  );

  test.skipIf(IS_PUSH)(
    'a wallet is followed from the flow to its page, to its counterparties and back',
    async () => {
      await page.goto('/console/flow');
      const row = page.getByRole('row').filter({ hasText: SHOP_NAME }).first();
      await row.getByRole('link', { name: SHOP_NAME }).click();
      await page.waitForURL(`**/console/merchants/${SHOP}`);
      await page.getByRole('heading', { level: 1, name: SHOP_NAME }).waitFor();
      // The answer leaves out days without settlements; the chart has a place for each.
      // A window of 30 days begins within a day, and so touches 31.
      expect(await rowsOfChart(page, 'Dollars by day, in the last 30 days')).toBe(31);
      await page.getByRole('button', { name: 'Draw the graph · 1 QU' }).click();
      const payers = page.getByRole('list', { name: 'Paid this wallet' });
      await payers.getByRole('link').first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/console/agents/0x*');
      await shows('Settlements paid');
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: SHOP_NAME }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Live flow' }).waitFor();
      expect(watched.problems()).toEqual([]);
    },
  );

  test.skipIf(IS_PUSH)('a paused flow asks for no settlements', async () => {
    await page.clock.install();
    await page.goto('/console/flow');
    await shows(LARGE_USD_TEXT);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.clock.runFor(POLLS_WITHIN_MS);
    await expect.poll(() => asked.filter((url) => url.includes('/v0/telemetry')).length).toBeGreaterThan(0);
    expect(asked.filter((url) => url.includes('/v0/flows'))).toEqual([]);
  });

  test('markup in names stays text', async () => {
    await page.goto('/console/agents');
    await shows(HOSTILE_NAME);
    expect(await page.locator('main img').count()).toBe(0);
    expect(watched.problems()).toEqual([]);
  });

  test.skipIf(IS_PUSH)('filters are in the address, and an empty list names them as the reason', async () => {
    await page.goto('/console/transactions');
    await page.getByLabel('Tier').selectOption('proven');
    await page.waitForURL('**/transactions?tier=proven');
    await page.getByRole('row').filter({ hasText: 'proven' }).first().waitFor();
    expect(await page.locator('tbody').getByText('unproven', { exact: true }).count()).toBe(0);
    await page.getByLabel('Facilitator').fill('unknown');
    await page.getByLabel('Facilitator').press('Enter');
    await shows('No settlements match these filters');
  });

  test.skipIf(IS_PUSH)('a filtered page without rows still offers the next page', async () => {
    let requests = 0;
    await page.route('**/v0/transactions*', (route) => {
      requests += 1;
      if (requests > 1) return route.continue({ url: `${world.origin}/v0/transactions?limit=${FEW_ROWS}` });
      const answer = { transactions: [], next_before: 'further', meta: {} };
      return route.fulfill({ contentType: 'application/json', body: JSON.stringify(answer) });
    });
    await page.goto('/console/transactions?min_probability=1');
    await shows('No settlements match these filters');
    await page.getByRole('button', { name: 'Show more' }).click();
    await shows(`${FEW_ROWS} settlements shown`);
  });
});
