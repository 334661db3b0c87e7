import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserIsThere, openPage, type WatchedPage } from '../kit/browser.ts';
import { SHOP_NAME, seedConsole } from '../kit/console-seed.ts';
import { addManagerKey, type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { rankWallets } from '../kit/rank-wallets.ts';

/**
 * Ten tasks of a person who opens the console for the first time, walked by roles and names alone: what a screen reader hears and a
 * person reads. On a desk and on a phone.
 */

const SIZES = [
  { name: 'desk', width: 1_440, height: 900 },
  { name: 'phone', width: 390, height: 844 },
] as const;
const SEEDED_WITHIN_MS = 240_000;
const TASK_MS = 120_000;
/** Of one step, on a machine that does something else too. */
const STEP_MS = 20_000;
const VOLUME_BY_WEEK =
  'SELECT toStartOfWeek(block_time) AS week, facilitator, sum(amount_usd) AS usd FROM settlements GROUP BY week, facilitator ORDER BY week';
const MONTH =
  'SELECT block_time, payer, payee, amount_usd FROM settlements WHERE block_time >= now() - INTERVAL 1 MONTH ORDER BY block_time';

describe.skipIf(!browserIsThere())('ten first tasks', () => {
  let world: ConsoleWorld;
  let ownKey: string;
  beforeAll(async () => {
    world = await openConsole({
      runsJobs: true,
      seed: async ({ writer }) => {
        await seedConsole(writer);
        await rankWallets(writer, { nowMs: Date.now(), windows: ['7d', '30d', 'all'] });
      },
    });
    ownKey = await addManagerKey(world);
  }, SEEDED_WITHIN_MS);
  afterAll(() => world?.close());
  describe.each(SIZES)('on a $name', (size) => {
    let watched: WatchedPage;
    let page: Page;

    beforeEach(async () => {
      watched = await openPage(world.browser, world.origin, size);
      page = watched.page;
      page.setDefaultTimeout(STEP_MS);
      await page.goto('/console');
    });
    afterEach(async () => {
      expect(watched.problems()).toEqual([]);
      await watched.close();
    });

    const button = (name: string | RegExp) =>
      page.getByRole('button', { name }).filter({ visible: true }).first();
    const link = (name: string | RegExp) =>
      page.getByRole('link', { name }).filter({ visible: true }).first();
    const heading = (name: string | RegExp) => page.getByRole('heading', { name }).first();
    /** A page of the navigation, which a phone has behind its menu. */
    const go = async (name: string): Promise<void> => {
      const menu = page.getByRole('button', { name: 'Menu', exact: true });
      if (await menu.isVisible()) await menu.click();
      await page
        .getByRole('navigation', { name: 'Console' })
        .getByRole('link', { name, exact: true })
        .click();
      await page.getByRole('heading', { level: 1 }).waitFor();
    };
    /** The filters of a list, which a phone has in a sheet. */
    const openFilters = async (): Promise<void> => {
      const sheet = button(/^Filters/);
      if (size.name === 'phone') await sheet.click();
    };
    const closeFilters = async (): Promise<void> => {
      if (size.name === 'phone') await button('Show the list').click();
    };
    const useKey = async (): Promise<void> => {
      await page.evaluate(`sessionStorage.setItem('six.key', '${ownKey}')`);
      await page.reload();
    };
    const write = async (sql: string): Promise<void> => {
      const editor = page.getByRole('textbox', { name: 'SQL query' });
      await editor.click();
      await page.keyboard.press('Control+a');
      // By itself: in place of a selection Chromium inserts text in a style of its own, which the policy of the page blocks.
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(sql);
    };
    const run = async (sql: string): Promise<void> => {
      await go('SQL');
      await write(sql);
      await button('Run').click();
      // What is there instead says why it failed.
      const result = page.getByRole('region', { name: 'Result' });
      await expect.poll(() => result.textContent(), { timeout: STEP_MS }).toContain('charged 1 QU');
    };

    test(
      'find who earns most, and judge that seller',
      async () => {
        await go('Merchants');
        const first = page.getByRole('table').getByRole('row').nth(1);
        await first.getByRole('link').first().click();
        await heading('Should I pay this address?').waitFor();
        await page
          .getByText(/^(clean|mixed|suspect|insufficient|unobserved)$/i)
          .first()
          .waitFor();
      },
      TASK_MS,
    );

    test(
      'find a weather API for at most a cent, and how to call it',
      async () => {
        await go('Endpoints');
        await openFilters();
        await page.getByLabel('Words').fill('weather');
        await page.keyboard.press('Enter');
        await page.getByRole('combobox', { name: 'Price' }).selectOption({ label: 'up to $0.01' });
        await closeFilters();
        await link(SHOP_NAME).click();
        await heading('How to call it').waitFor();
        await page.getByText('https://weather.example/v1/forecast').first().waitFor();
        await page.getByText('$0.01').first().waitFor();
      },
      TASK_MS,
    );

    test(
      'chart the volume by facilitator by week, and share the query',
      async () => {
        await useKey();
        await run(VOLUME_BY_WEEK);
        await page
          .getByRole('tab', { name: 'Chart' })
          .or(page.getByRole('radio', { name: 'Chart' }))
          .or(page.getByRole('button', { name: 'Chart', exact: true }))
          .first()
          .click();
        await page
          .getByRole('img', { name: /by|usd/i })
          .first()
          .waitFor();
        await button('Copy link').click();
        expect(String(await page.evaluate('navigator.clipboard.readText()'))).toContain('/console/sql');
      },
      TASK_MS,
    );

    test(
      'save a query with a name, and publish it',
      async () => {
        await useKey();
        await go('SQL');
        await write('SELECT count() AS payments FROM settlements');
        await button(/^Save$/).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name', { exact: true }).fill(`Payments on a ${size.name}`);
        await dialog.getByText('Share, refresh and limits').click();
        await dialog.getByLabel('Who may call it').selectOption('public');
        await dialog.getByRole('button', { name: 'Save' }).click();
        // An organization chooses it once.
        if (size.name === 'desk') {
          await dialog.getByLabel('Handle of your organization').fill('first-tasks');
          await dialog.getByRole('button', { name: 'Save' }).click();
        }
        await dialog.getByText(`/v0/q/first-tasks/payments-on-a-${size.name}`).waitFor();
      },
      TASK_MS,
    );

    test(
      'find the largest payment of a day with a query',
      async () => {
        await useKey();
        await run(
          'SELECT block_time, payer, payee, amount_usd, tx_hash FROM settlements WHERE block_time >= today() - 1 ORDER BY amount_usd DESC LIMIT 1',
        );
        await page
          .getByRole('region', { name: 'Result' })
          .getByText(/1,?234,?567/)
          .first()
          .waitFor();
      },
      TASK_MS,
    );

    test(
      'see why a settlement has its evidence',
      async () => {
        await go('Settlements');
        await link('All settlements').click();
        const row = page.getByRole('table').getByRole('row').nth(1);
        if (size.name === 'phone') await row.getByRole('button', { name: 'Show more of this row' }).click();
        // The last one is the transaction's.
        await row.getByRole('link').last().click();
        await page
          .getByText(/How sure it is|Evidence/)
          .first()
          .waitFor();
        await page
          .getByText(/authorization/i)
          .first()
          .waitFor();
      },
      TASK_MS,
    );

    test(
      'get a key',
      async () => {
        await useKey();
        await page.goto('/console/account/keys');
        await button('New key').click();
        await page.getByLabel('Purpose').fill(`key made on a ${size.name}`);
        await button('Make the key').click();
        await page.getByText(/^six_live_/).waitFor();
      },
      TASK_MS,
    );

    test(
      'export a month',
      async () => {
        await useKey();
        await run(MONTH);
        const download = page.waitForEvent('download');
        await button('CSV').click();
        expect((await download).suggestedFilename()).toMatch(/\.csv$/);
      },
      TASK_MS,
    );
  });
});
