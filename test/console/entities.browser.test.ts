import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import { browserIsThere, openPage, rowsOfChart, type WatchedPage } from '../kit/browser.ts';
import { SHOP_NAME, seedConsole } from '../kit/console-seed.ts';
import { askForFewRows, looksRight } from '../kit/console-widths.ts';
import { type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { BUYER, fillRecords, RIVAL, SHOP } from '../kit/market.ts';
import { BASE, insertSettlements, ON_SOLANA, POLYGON, SOLANA, solanaSettlement } from '../kit/rows.ts';

/** Pages about one transaction, one pair, one wallet and one endpoint, in a real browser over a real engine with a market in it. */

const RESOURCE = 'https://weather.example/v1/forecast';

/** The shop has a wallet on Solana for the same resource, which was paid three times today. */
async function sellOnSolana(writer: Writer): Promise<void> {
  const blockTime = Math.floor(Date.now() / 1_000) - 600;
  await insertSettlements(
    writer,
    [1, 2, 3].map((logIndex) => solanaSettlement({ blockTime, logIndex })),
  );
  await writer.run({
    name: 'test-payee',
    maxSeconds: 10,
    sql: sql`INSERT INTO catalogued_payees (chain, address, resource, source, ver)
      SELECT ${text(SOLANA)}, tryBase58Decode(${text(ON_SOLANA.seller)}), ${text(RESOURCE)}, 'configured', 1`,
  });
}
const TIMEOUT_MS = 240_000;

describe.skipIf(!browserIsThere())('pages about one thing', () => {
  let world: ConsoleWorld;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    world = await openConsole({
      chains: 'base,polygon,solana',
      seed: async ({ writer }) => {
        await seedConsole(writer);
        await fillRecords(writer);
        await sellOnSolana(writer);
      },
    });
  }, TIMEOUT_MS);
  afterAll(() => world?.close());
  beforeEach(async () => {
    watched = await openPage(world.browser, world.origin);
    page = watched.page;
    await askForFewRows(page);
  });
  afterEach(() => watched.close());

  const shows = (text: string): Promise<void> => page.getByText(text).first().waitFor();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  const ask = async (path: string): Promise<any> =>
    (await world.api.get(`/v0${path}`, { 'x-api-key': world.visitorKey })).body;
  const newestOf = async (payee: string) =>
    (await ask(`/entities/${payee}/settlements?role=payee&limit=1`)).settlements[0];

  test(
    'a transaction shows its settlements with the rung that each reached, its fee, its block and the explorer',
    async () => {
      const row = await newestOf(SHOP);
      await page.goto(`/console/transactions/${row.tx_hash}`);
      await shows('Seen on chain');
      const reached = page.locator('.rung[aria-current="true"]');
      expect(await reached.count()).toBe(1);
      expect(await reached.textContent()).toContain('Relayed by a named facilitator');
      const explorer = page.getByRole('link', { name: /^basescan\.org/ }).last();
      expect(await explorer.getAttribute('href')).toBe(`https://basescan.org/tx/${row.tx_hash}`);
      expect(await page.getByText(`block ${row.block_number.toLocaleString('en')}`).count()).toBe(1);
      await shows('60,000 gas');
      expect(await page.getByRole('link', { name: 'All payments between them' }).getAttribute('href')).toBe(
        `/console/pairs/${row.payer}/${row.payee}`,
      );
      await looksRight(watched, 'transaction');
    },
    TIMEOUT_MS,
  );

  test('a transaction without a settlement says what that can mean, and where to look', async () => {
    await page.goto(`/console/transactions/0x${'0'.repeat(63)}1`);
    await shows('The index has no settlement of this transaction');
    await page.getByRole('link', { name: 'How far the index is' }).waitFor();
    await page.goto('/console/transactions/0x12');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('invalid_parameter');
  });

  test(
    'a pair shows what was paid, what came back, and the payments between the two alone',
    async () => {
      const pair = await ask(`/pairs/${BUYER}/${SHOP}`);
      await page.goto(`/console/pairs/${BUYER}/${SHOP}`);
      await shows('Days with payments');
      await shows(`${pair.paid.settlement_count.toLocaleString('en')} settlements since the index begins`);
      await shows('nothing came back');
      // Every day of the chart has its place, with and without payments.
      const days = await rowsOfChart(page, 'Dollars paid by day, since the index begins');
      expect(days).toBeGreaterThan(pair.daily.length);
      // Not the grey rows of a table that is being read.
      const rows = page.locator('table.settlements:not([aria-busy]) tbody tr');
      await rows.first().waitFor();
      expect(await rows.filter({ hasText: SHOP_NAME }).count()).toBe(await rows.count());
      await looksRight(watched, 'pair');
      await page.getByRole('link', { name: '24h' }).click();
      await page.waitForURL('**window=24h');
    },
    TIMEOUT_MS,
  );

  test('a pair without payments in a window leads to all of time, and one of a wallet with itself says so', async () => {
    await page.goto(`/console/pairs/${SHOP}/${RIVAL}?window=24h`);
    await shows('No payment from the first to the second wallet in the last 24 hours');
    await page.getByRole('link', { name: 'Show all of time' }).click();
    await shows('Days with payments');
    await page.goto(`/console/pairs/${RIVAL}/${RIVAL}`);
    await shows('nothing changed hands');
    expect(watched.problems()).toEqual([]);
  });

  test(
    'pages of a wallet and of a pair are about all chains: one that is chosen says what it leaves out, and leads back',
    async () => {
      for (const path of [`/merchants/${SHOP}`, `/pairs/${BUYER}/${SHOP}`]) {
        const { elsewhere } = await ask(`${path}?chain=${POLYGON}`);
        expect(elsewhere, path).toMatchObject([{ chain: BASE }]);
        await page.goto(`/console${path}?chain=${POLYGON}`);
        const banner = page.locator('.banner', { hasText: 'Only Polygon is shown.' });
        expect(await banner.textContent()).toContain(
          `Not in these figures: ${elsewhere[0].settlement_count.toLocaleString('en')} settlements of`,
        );
        await banner.getByRole('link', { name: 'Show all chains' }).click();
        await page.waitForURL(`**/console${path}`);
        await banner.waitFor({ state: 'detached' });
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a wallet answers first whether to pay it, and every figure below is of the window that was chosen',
    async () => {
      const { tiers, settlement_count: count } = (await ask(`/merchants/${SHOP}?window=90d`)).in_window;
      await page.goto(`/console/merchants/${SHOP}?window=90d`);
      await page.getByRole('heading', { level: 2, name: 'Should I pay this address?' }).waitFor();
      await page.locator('.pay-headline').waitFor();
      const card = page.locator('section', { has: page.getByRole('heading', { name: 'Evidence' }) }).last();
      await card.waitFor();
      expect(await card.locator('tbody tr').count()).toBe(tiers.length);
      await shows(`${count.toLocaleString('en')} settlements in the last 90 days`);
      expect(await rowsOfChart(page, 'Dollars by day, in the last 90 days')).toBe(91);
      await page.getByRole('table', { name: 'Payers in the last 90 days' }).waitFor();
      await page.getByRole('link', { name: 'Payments', exact: true }).first().waitFor();
      await looksRight(watched, 'wallet-payee');
    },
    TIMEOUT_MS,
  );

  test(
    'a seller that is paid on another chain too is whole on the page of either wallet',
    async () => {
      for (const [path, other] of [
        [`/console/merchants/${SHOP}`, ON_SOLANA.seller],
        [`/console/merchants/${ON_SOLANA.seller}`, SHOP],
      ] as const) {
        await page.goto(path);
        const section = page.locator('section', { hasText: 'Same seller, other wallets' }).last();
        await section.waitFor();
        const link = section.locator(`a[href$="/merchants/${other}"]`).first();
        expect(await link.count(), path).toBe(1);
        expect(await section.textContent()).toContain('Solana');
      }
      await page.goto(`/console/merchants/${SHOP}`);
      await page.getByRole('heading', { name: /Same seller/ }).waitFor();
      await looksRight(watched, 'wallet-linked');
    },
    TIMEOUT_MS,
  );

  test(
    'a wallet is seen as payer in another tab, which keeps the window',
    async () => {
      await page.goto(`/console/merchants/${SHOP}?window=90d`);
      await page.getByRole('link', { name: 'As payer' }).click();
      await page.waitForURL(`**/console/agents/${SHOP}?window=90d`);
      await page.getByRole('heading', { level: 2, name: /^Settlements paid/ }).waitFor();
      await looksRight(watched, 'wallet-payer');
    },
    TIMEOUT_MS,
  );

  test(
    'one control changes the window of all that is asked, and a payer leads to the pair',
    async () => {
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(`/console/merchants/${SHOP}`);
      await page.getByRole('heading', { level: 2, name: /^Settlements received/ }).waitFor();
      asked.length = 0;
      await page.getByRole('navigation', { name: 'Time window' }).getByRole('link', { name: '7d' }).click();
      await page
        .getByRole('heading', { level: 2, name: 'Settlements received in the last 7 days' })
        .waitFor();
      const windowed = (): string[] =>
        asked.filter((url) => /\/v0\/(merchants\/|entities\/.*(counterparties|settlements))/.test(url));
      await expect.poll(() => windowed().length).toBe(3);
      expect(windowed().every((url) => /window=7d|since=/.test(url))).toBe(true);
      await page.getByRole('link', { name: 'Payments', exact: true }).first().click();
      await page.waitForURL('**/console/pairs/**window=7d**');
      await shows('Days with payments');
      expect(watched.problems()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'an endpoint shows its offers, who asks to be paid, the verdict on its payee, and the payments that fit',
    async () => {
      await page.goto('/console/endpoints');
      await page.getByRole('link', { name: SHOP_NAME }).first().click();
      await page.waitForURL(`**/console/endpoints/weather.example?url=${encodeURIComponent(RESOURCE)}**`);
      await page.getByRole('heading', { level: 1, name: SHOP_NAME }).waitFor();
      await page.getByRole('heading', { level: 2, name: 'Should I pay its payee?' }).waitFor();
      await page.getByRole('table', { name: 'Ways to pay, cheapest first' }).waitFor();
      await page
        .getByRole('table', { name: 'Every address that a listing of this resource names' })
        .waitFor();
      await page.locator('.pay-headline').waitFor();
      await looksRight(watched, 'endpoint');
    },
    TIMEOUT_MS,
  );

  test('a URL that no source lists is an empty page with a way on', async () => {
    await page.goto(
      `/console/endpoints/nowhere.example?url=${encodeURIComponent('https://nowhere.example/')}`,
    );
    await shows('No source lists this URL');
    await page.getByRole('link', { name: 'Endpoints of nowhere.example' }).waitFor();
    expect(watched.problems()).toEqual([]);
  });
});
