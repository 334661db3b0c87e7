import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { shortAddress } from '../../console/format.ts';
import { browserIsThere, openPage, type WatchedPage } from '../kit/browser.ts';
import { readSolanaInPart, SHOP_NAME, seedConsole } from '../kit/console-seed.ts';
import { looksRight } from '../kit/console-widths.ts';
import { addManagerKey, type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { SHOP } from '../kit/market.ts';
import { ON_SOLANA } from '../kit/rows.ts';

/** Dashboards in a real browser, over a real engine, for a visitor without any key. */

const PAGES: readonly (readonly [name: string, path: string, shows: string])[] = [
  ['home', '/console?period=30d', SHOP_NAME],
  ['dashboards', '/console/dashboards', 'Who relays payments'],
  ['board-facilitators', '/console/dashboards/index/facilitators?period=30d', 'Active facilitators'],
  ['board-seller', `/console/dashboards/index/seller?period=30d&wallet=${SHOP}`, 'Mean payment'],
  [
    'board-seller-solana',
    `/console/dashboards/index/seller?period=7d&wallet=${ON_SOLANA.seller}`,
    shortAddress(ON_SOLANA.buyer),
  ],
  ['board-agents', '/console/dashboards/index/agents?period=30d', 'Registered agents'],
];

describe.skipIf(!browserIsThere())('dashboards', () => {
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
      lendsKey: false,
    });
  });
  afterAll(() => world?.close());
  beforeEach(async () => {
    watched = await openPage(world.browser, world.origin);
    page = watched.page;
  });
  afterEach(() => watched.close());

  const shows = (text: string): Promise<void> =>
    page.getByText(text).filter({ visible: true }).first().waitFor();

  test.each(PAGES)(
    '%s is whole without a key, in both themes and at every width',
    async (name, path, text) => {
      await page.goto(path);
      await shows(text);
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await looksRight(watched, name);
    },
  );

  test('home says what is going on, and the period is part of the address', async () => {
    await page.goto('/console');
    for (const name of ['Organic volume', 'Payments', 'Active sellers', 'Active payers'])
      await page.getByRole('term').filter({ hasText: name }).waitFor();
    await page.getByRole('img', { name: /Organic volume by facilitator|volume_usd/ }).waitFor();
    await page.getByRole('navigation', { name: 'Period' }).getByRole('link', { name: '30d' }).click();
    await page.waitForURL(/period=30d/);
    await page.getByRole('region', { name: 'Top sellers' }).getByText(SHOP_NAME).waitFor();
  });

  test('a panel opens in the editor with its text and the values that made it', async () => {
    await page.goto('/console?period=24h');
    await page.getByRole('link', { name: /Open in SQL.*Top sellers/ }).click();
    await page.waitForURL('**/console/sql#*');
    expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('p.hours')).toBe('24');
  });

  test('a dashboard of one seller asks for its address', async () => {
    await page.goto('/console/dashboards/index/seller');
    await shows('Choose a wallet');
    await page.getByLabel('Wallet').fill(SHOP);
    await page.getByLabel('Wallet').press('Enter');
    await shows('Mean payment');
  });

  test('an owner makes a dashboard of a saved query, and others open it and frame it', async () => {
    const key = await addManagerKey(world);
    const call = (method: 'PUT' | 'GET', url: string, payload?: object) =>
      world.api.app.inject({ method, url, headers: { 'x-api-key': key }, ...(payload && { payload }) });
    await call('PUT', '/v0/account/handle', { handle: 'acme' });
    await call('PUT', '/v0/queries/numbers', {
      sql: 'SELECT number AS n FROM numbers({hours:UInt32})',
      parameters: { hours: { description: 'Hours.', default: 24 } },
      title: 'Numbers',
      visibility: 'public',
    });
    await call('GET', '/v0/q/acme/numbers?hours=168');
    await page.goto('/console');
    await page.evaluate((own) => sessionStorage.setItem('six.key', own), key);
    await page.goto('/console/dashboards');
    await page.getByRole('link', { name: 'New dashboard' }).click();
    await page.getByLabel('Name').fill('Our numbers');
    await page.getByLabel('Who may open it').selectOption('public');
    await page.getByRole('button', { name: 'Add a query' }).click();
    await page.getByLabel('Shown as').selectOption('table');
    await page.getByRole('button', { name: 'Add a text' }).click();
    await page.getByRole('group', { name: 'Panel 2' }).getByLabel('Text').fill('What these are.');
    await page.getByRole('button', { name: 'Move up Panel 2' }).click();
    await looksRight(watched, 'board-editor');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL('**/console/dashboards/acme/our-numbers');
    await page.getByRole('region', { name: 'Numbers' }).getByText('the first 50 of 168 rows').waitFor();
    await page.getByRole('link', { name: 'Edit' }).waitFor();
    expect(watched.problems()).toEqual([]);
    await page.goto('/embed/acme/our-numbers');
    await page.getByRole('heading', { level: 1, name: 'Our numbers' }).waitFor();
    await shows('What these are.');
    await page.getByRole('cell', { name: '49' }).waitFor();
    await looksRight(watched, 'board-frame');
  });
});
