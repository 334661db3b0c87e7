import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { shortAddress } from '../../console/format.ts';
import {
  endpointsSql,
  facilitatorDaysSql,
  facilitatorMerchantsSql,
  facilitatorsSql,
  growthSql,
  walletsSql,
} from '../../console/parts/ranking-sql.ts';
import { GROWTH_WINDOWS } from '../../console/parts/windows.ts';
import { WINDOWS } from '../../core/domain/window.ts';
import { addKey, createOrganization } from '../kit/access.ts';
import { browserIsThere, openPage, seriousFindings, type WatchedPage } from '../kit/browser.ts';
import { LARGE_USD_TEXT, SHOP_NAME, seedConsole, settleNow } from '../kit/console-seed.ts';
import { askForFewRows, looksRight, resize } from '../kit/console-widths.ts';
import { type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { BUYER, SHOP } from '../kit/market.ts';
import { keepPicture } from '../kit/pictures.ts';
import { rankWallets } from '../kit/rank-wallets.ts';
import { BASE, POLYGON, reportChain, tombstone } from '../kit/rows.ts';

/** The pages of the market in a real browser, over a real engine: rankings, facilitators, the flow, and the search of the header. */

const SIZES = [
  { width: 1_440, height: 900 },
  { width: 768, height: 1_024 },
  { width: 390, height: 844 },
] as const;
/** Longer than every interval of the pages. */
const POLLS_WITHIN_MS = 15_000;
/** The market is written and ranked three times over. */
const SEEDED_WITHIN_MS = 240_000;
/** Of the tier standard, for one organization. */
const QUERIES_A_MINUTE = 30;
/** More than that many queries cost. */
const QUERIES_UNITS = 1_000;
/** Every page, with a text that only an answer of the API can have put on it. */
const PAGES: readonly (readonly [name: string, path: string, shows: string])[] = [
  ['home', '/console', SHOP_NAME],
  ['merchants', '/console/merchants', SHOP_NAME],
  // The shop gained in 30 days, and lost in 7.
  ['growth', '/console/merchants?by=growth', SHOP_NAME],
  ['payers', '/console/payers', shortAddress(BUYER)],
  ['wallets', '/console/wallets', SHOP_NAME],
  ['agents-by-revenue', '/console/agents-by-revenue', SHOP_NAME],
  ['facilitators', '/console/facilitators', 'Coinbase'],
  ['facilitator', '/console/facilitators/coinbase', 'source: test'],
  ['relayers', '/console/relayers', 'Coinbase'],
  ['flow', '/console/flow', LARGE_USD_TEXT],
  ['settlements', '/console/transactions', SHOP_NAME],
  ['endpoints', '/console/endpoints', 'weather.example/v1/forecast'],
  ['capabilities', '/console/capabilities', 'Web search'],
];

describe.skipIf(!browserIsThere())('the market in the console', () => {
  let world: ConsoleWorld;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    world = await openConsole({
      seed: async ({ writer }) => {
        await seedConsole(writer);
        await rankWallets(writer, { nowMs: Date.now(), windows: ['7d', '30d', 'all'] });
      },
    });
  }, SEEDED_WITHIN_MS);
  afterAll(() => world?.close());
  beforeEach(async () => {
    watched = await openPage(world.browser, world.origin, { width: 1_440, height: 900 });
    page = watched.page;
  });
  afterEach(() => watched.close());

  const shows = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
  const overflow = (): Promise<number> =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const search = () => page.getByRole('combobox', { name: /^Search wallets/ });
  /** The keys are listened for as soon as the button is there. */
  const openSearch = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Search wallets or agents' }).waitFor();
    await page.keyboard.press('Control+k');
    await search().waitFor();
  };
  const option = (name: string | RegExp) => page.getByRole('option', { name });

  test.each(PAGES)(
    '%s fits every width and has no serious finding in either theme',
    async (name, path, text) => {
      await askForFewRows(page);
      await page.goto(path);
      await shows(text);
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await looksRight(watched, name);
    },
  );

  test('no column of a ranking is lost on a narrower screen', async () => {
    await page.goto('/console/merchants');
    await shows(SHOP_NAME);
    const names = [
      'Rank',
      'Organic',
      'Trend',
      'Change',
      'Proven',
      'Settlements',
      'Payers',
      'All dollars',
      'Verdict',
    ];
    for (const size of SIZES) {
      await resize(page, size);
      const table = page.getByRole('region', { name: /^Merchants/ });
      // A row of a phone has the rest of its columns behind its button.
      if (size.width === 390)
        await table.getByRole('button', { name: 'Show more of this row' }).first().click();
      // Headers on wide screens; on cards and stacked cells the name stands with the value.
      const shown = await table.evaluate((region) =>
        [...region.querySelectorAll<HTMLElement>('th[scope=col], .stacked-name, td[data-name]')]
          .filter((cell) => cell.checkVisibility() && cell.getClientRects().length > 0)
          .map((cell) => cell.dataset['name'] ?? cell.textContent),
      );
      expect(
        names.filter((name) => !shown.includes(name)),
        `at ${size.width}`,
      ).toEqual([]);
    }
  });

  test('a ranking is sorted by its columns, over the window and chain of its address', async () => {
    await page.goto('/console/merchants');
    await shows(SHOP_NAME);
    await page.getByRole('link', { name: 'Settlements', exact: true }).last().click();
    await page.waitForURL('**/merchants?by=settlements');
    await page
      .getByRole('columnheader', { name: 'Settlements' })
      .and(page.locator('[aria-sort="descending"]'))
      .waitFor();
    await page
      .getByRole('navigation', { name: 'Time window' })
      .getByRole('link', { name: '7d', exact: true })
      .click();
    await page.waitForURL('**/merchants?by=settlements&window=7d');
    const answer = page.waitForResponse(
      (one) => one.url().includes('/v0/leaderboard') && one.url().includes('137'),
    );
    await page.getByRole('combobox', { name: 'Chain', exact: true }).selectOption(POLYGON);
    const { searchParams } = new URL((await answer).url());
    expect(Object.fromEntries(searchParams)).toMatchObject({
      of: 'merchants',
      by: 'settlements',
      window: '7d',
      chain: POLYGON,
    });
    await page.goBack();
    await page.waitForURL('**/merchants?by=settlements&window=7d');
    // Growth has no meaning over all of time: the choice leaves it out.
    await page.getByRole('link', { name: 'Change', exact: true }).click();
    await page.waitForURL('**/merchants?by=growth&window=7d');
    expect(
      await page.getByRole('navigation', { name: 'Time window' }).getByRole('link', { name: 'All' }).count(),
    ).toBe(0);
  });

  test('a facilitator keeps its colour on every page, and unnamed is grey', async () => {
    const swatch = async (path: string): Promise<string> => {
      await page.goto(path);
      const of = page.locator('.facilitator', { hasText: 'Coinbase' }).first();
      await of.waitFor();
      return of.locator('.swatch').evaluate((one) => getComputedStyle(one).backgroundColor);
    };
    const colours = new Set<string>();
    for (const path of [
      '/console?ranking=facilitators',
      '/console/facilitators',
      '/console/relayers',
      '/console/flow',
    ])
      colours.add(await swatch(path));
    expect(colours.size).toBe(1);
    const picture = page.locator('.flow-block');
    const borders = await picture.evaluateAll((blocks) =>
      blocks.map((one) => getComputedStyle(one).borderLeftColor),
    );
    expect(borders).toContain([...colours][0]);
    const grey = (await page.evaluate(
      `(() => { const probe = document.createElement('i'); probe.style.color = 'var(--series-none)'; document.body.append(probe); return getComputedStyle(probe).color; })()`,
    )) as string;
    expect(borders).toContain(grey);
  });

  test('the page of a facilitator leads to its merchants, and says of an unknown id that there is nothing', async () => {
    await page.goto('/console/facilitators');
    await page.getByRole('link', { name: 'Coinbase' }).click();
    await page.waitForURL('**/facilitators/coinbase');
    await page.getByRole('heading', { level: 1, name: 'Coinbase' }).waitFor();
    const merchants = page.getByRole('region', { name: 'Merchants', exact: true });
    await merchants.getByRole('link', { name: new RegExp(SHOP_NAME) }).click();
    await page.waitForURL(`**/merchants/${SHOP}`);
    await page.goto('/console/facilitators/unknown');
    await shows('The index has no settlement of this facilitator');
  });

  test('every query that a page opens in SQL runs', async () => {
    const asked = WINDOWS.flatMap((window) =>
      [null, BASE].flatMap((chain) => [
        walletsSql('payee', { window, chain }),
        walletsSql('payer', { window, chain }),
        facilitatorsSql({ window, chain }),
      ]),
    );
    const grown = GROWTH_WINDOWS.map((window) => growthSql('payee', { window, chain: BASE }));
    const others = [endpointsSql(), facilitatorDaysSql('coinbase'), facilitatorMerchantsSql('coinbase')];
    const { store } = world.api.access.access;
    let key = '';
    for (const [at, { sql, params }] of [...asked, ...grown, ...others].entries()) {
      if (at % QUERIES_A_MINUTE === 0)
        key = await addKey(store, {
          organizationId: await createOrganization(store, { units: QUERIES_UNITS, plan: 'pro' }),
        });
      const answer = await fetch(`${world.origin}/v0/sql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify({ sql, params }),
      });
      const body = (await answer.json()) as { rows?: unknown[]; detail?: string };
      expect([answer.status, body.detail], sql).toEqual([200, undefined]);
    }
  });

  test('a list of the home page opens as a query that is not run by that', async () => {
    await page.goto('/console?ranking=merchants');
    await shows(SHOP_NAME);
    const asked: unknown[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() === 'POST' && pathname.startsWith('/v0/sql'))
        asked.push([pathname, request.postDataJSON().explain_only]);
    });
    const estimate = page.waitForResponse((one) => new URL(one.url()).pathname === '/v0/sql');
    await page.getByRole('link', { name: /^Open in SQL\s?: Merchants$/ }).click();
    await page.waitForURL('**/console/sql#q=*');
    await page.getByRole('textbox', { name: 'SQL query' }).getByText('merchant_days').waitFor();
    await estimate;
    expect(asked).toEqual([['/v0/sql', true]]);
  });

  test('a settlement appears while the page is open, and one that a reorg took disappears', async () => {
    await page.clock.install();
    await page.goto('/console/flow');
    await shows(SHOP_NAME);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const row = await settleNow(world.engine.writer, 21_000_001n);
    await page.clock.runFor(POLLS_WITHIN_MS);
    await page.locator('[title^="$21.000001"]').first().waitFor();
    await tombstone(world.engine.writer, [row]);
    await page.clock.runFor(POLLS_WITHIN_MS);
    await page.locator('[title^="$21.000001"]').first().waitFor({ state: 'detached' });
    const read = asked.filter((url) => url.includes('/v0/flows'));
    expect(read.length).toBeGreaterThan(1);
    expect(read.filter((url) => !url.includes('after='))).toEqual([]);
  });

  test('the flow is not live while a chain of the index has not started', async () => {
    const at = `toDateTime(${Math.floor(Date.now() / 1_000)}, 'UTC')`;
    // Other tests of this file take longer than a chain stays fresh without a report.
    await reportChain(world.engine.writer, BASE, {
      indexed_block: '5003',
      head_block: '5003',
      finalized_block: '5001',
      indexed_time: at,
      head_time: at,
      head_seen_at: at,
      last_written_at: at,
      updated_at: 'now64(3)',
    });
    await page.goto('/console/flow');
    await page.locator('.live', { hasText: 'Polygon not started' }).waitFor();
  });

  test('newer settlements are counted above a list, which does not move before the visitor asks', async () => {
    await page.clock.install();
    await page.goto('/console/transactions');
    await shows(SHOP_NAME);
    await settleNow(world.engine.writer, 31_000_001n);
    await page.clock.runFor(POLLS_WITHIN_MS);
    const button = page.getByRole('button', { name: 'Show 1 newer settlement' });
    await button.waitFor();
    expect(await page.locator('[title^="$31.000001"]').count()).toBe(0);
    await button.click();
    await page.locator('[title^="$31.000001"]').first().waitFor();
    await button.waitFor({ state: 'detached' });
  });

  describe('the search of the header', () => {
    test('finds a name by the keyboard alone, with its source, and remembers what was opened', async () => {
      await page.goto('/console');
      await shows(SHOP_NAME);
      await openSearch();
      await page.keyboard.type('weather by');
      await option(new RegExp(`${SHOP_NAME}.*named by its agent card`)).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await keepPicture(page, 'search-1440-light');
      const active = async (): Promise<string> => {
        const id = (await search().getAttribute('aria-activedescendant')) ?? '';
        return (await page.locator(`#${id}`).textContent()) ?? '';
      };
      const first = await active();
      await page.keyboard.press('ArrowDown');
      await expect.poll(active).not.toBe(first);
      await page.keyboard.press('ArrowUp');
      await expect.poll(active).toBe(first);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/merchants/${SHOP}`);
      await search().waitFor({ state: 'detached' });
      await openSearch();
      await page
        .getByRole('group', { name: 'Opened lately' })
        .getByRole('option', { name: SHOP_NAME })
        .waitFor();
      expect(watched.problems()).toEqual([]);
    });

    test('opens addresses, transactions, pages and sections of the documentation', async () => {
      await page.goto('/console/status');
      await openSearch();
      await search().fill(SHOP.toUpperCase().replace('0X', '0x'));
      await option(/as payer.*named by its agent card/).click();
      await page.waitForURL(`**/agents/${SHOP}`);
      await openSearch();
      await search().fill('sql');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/console/sql');
      await openSearch();
      await search().fill(`0x${'ab'.repeat(32)}`);
      await option(/transaction/).waitFor();
      await search().fill('evidence ladder');
      await page.getByRole('group', { name: 'Documentation' }).getByRole('option').first().click();
      await page.waitForURL('**/docs/**');
    });

    test('asks once for a text that is typed quickly', async () => {
      await page.goto('/console/status');
      await shows('Sources of the endpoint catalogue');
      await openSearch();
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/v0/agents?'))
          asked.push(new URL(request.url()).searchParams.get('q') ?? '');
      });
      await page.keyboard.type('observations');
      await option(new RegExp(SHOP_NAME)).first().waitFor();
      expect(asked.at(-1)).toBe('observations');
      expect(asked.length).toBeLessThan('observations'.length);
    });

    test('works by touch on a narrow screen, and closes by Escape and its button', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto('/console/status');
      const button = page.getByRole('button', { name: 'Search wallets or agents' });
      await button.click();
      await search().fill('coin');
      await option(/Coinbase/).waitFor();
      expect(await overflow()).toBeLessThanOrEqual(0);
      expect(await seriousFindings(page)).toEqual([]);
      await keepPicture(page, 'search-390-light');
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      expect(await search().count()).toBe(0);
      await button.click();
      await page.keyboard.press('Escape');
      await search().waitFor({ state: 'detached' });
      await button.click();
      await search().fill('coin');
      await option(/Coinbase/).click();
      await page.waitForURL('**/facilitators/coinbase');
    });

    test('takes the keys of its shortcut from the editor, and a slash outside of fields only', async () => {
      await page.goto('/console/sql');
      // Takes the focus when it takes the place of the plain text area.
      await page.locator('.cm-content:focus').waitFor();
      await page.keyboard.type('1 / 2');
      await page.locator('.cm-content', { hasText: '1 / 2' }).waitFor();
      expect(await search().count()).toBe(0);
      // Would close a search that the slash had opened.
      await openSearch();
      await page.keyboard.press('Control+k');
      await search().waitFor({ state: 'detached' });
      await page.goto('/console/status');
      await page.getByRole('button', { name: 'Search wallets or agents' }).waitFor();
      await page.keyboard.press('/');
      await search().waitFor();
    });

    test('searches again where a busy service refused, and shows the other results until then', async () => {
      let refused = 0;
      let isBusy = true;
      await page.route('**/v0/agents?*', (route) => {
        if (!isBusy) return route.continue();
        refused += 1;
        return route.fulfill({
          status: 503,
          headers: { 'retry-after': '1' },
          contentType: 'application/problem+json',
          body: JSON.stringify({
            title: 'Busy',
            status: 503,
            code: 'overloaded',
            detail: 'Busy.',
            retry_after: 1,
          }),
        });
      });
      await page.goto('/console/status');
      await openSearch();
      await search().fill('weather');
      await option(/endpoint https:\/\/weather\.example/)
        .first()
        .waitFor();
      await shows('Some names could not be searched yet.');
      isBusy = false;
      await option(new RegExp(`${SHOP_NAME}.*named by its agent card`)).waitFor();
      expect(refused).toBeGreaterThan(0);
    });

    test('says so where names cannot be searched, and still opens pages', async () => {
      await page.route('**/v0/agents?*', (route) =>
        route.fulfill({
          status: 402,
          contentType: 'application/problem+json',
          body: JSON.stringify({
            title: 'The call has a price',
            status: 402,
            code: 'payment_required',
            detail: 'Pay.',
          }),
        }),
      );
      await page.goto('/console/status');
      await openSearch();
      await search().fill('merch');
      await shows('Names could not be searched');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/console/merchants');
    });
  });

  test('the header reaches every section at every width', async () => {
    await page.goto('/console/status');
    await shows('Sources of the endpoint catalogue');
    const sections = [
      'Home',
      'Dashboards',
      'SQL',
      'Settlements',
      'Merchants',
      'Payers',
      'Agents',
      'Facilitators',
      'Endpoints',
      'Status',
    ];
    for (const { width, height } of SIZES) {
      await page.setViewportSize({ width, height });
      const menu = page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.click();
      const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link');
      await expect.poll(() => links.allTextContents()).toEqual(sections);
      for (const link of await links.all()) expect(await link.isVisible()).toBe(true);
      await keepPicture(page, `header-${width}`);
      if (await menu.isVisible()) await menu.click();
    }
  });
});
