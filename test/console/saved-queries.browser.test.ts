import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_TIER, fragmentOf } from '../../console/sql/query-text.ts';
import { browserIsThere, openPage, seriousFindings, type WatchedPage } from '../kit/browser.ts';
import { looksRight } from '../kit/console-widths.ts';
import { addManagerKey, type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { insertSettlements, settlement, wallet } from '../kit/rows.ts';

/** A query of the SQL page becomes an endpoint, gets versions, is seen on the account's page, and goes. */

const SHOP = wallet(0xb1);
const FIRST = 'SELECT count() AS payments FROM settlements WHERE payee = {shop:String}';
const SECOND =
  'SELECT count() AS payments, sum(amount_usd) AS usd FROM settlements WHERE payee = {shop:String}';
const PAYMENTS = 12;

let world: ConsoleWorld;
let visitor: WatchedPage;
/** A key that manages keys: the one that the console lends saves nothing. */
let ownKey: string;

const dialog = () => visitor.page.getByRole('dialog');
const field = (name: string) => dialog().getByLabel(name, { exact: name === 'Name' });

async function openWith(sql: string, params: Readonly<Record<string, string>>): Promise<void> {
  await visitor.page.goto(`/console/sql${fragmentOf({ sql, tier: DEFAULT_TIER, params })}`);
  await visitor.page.getByRole('textbox', { name: 'SQL query' }).locator('.cm-line').first().waitFor();
}

async function useOwnKey(): Promise<void> {
  const { page } = visitor;
  await page.getByRole('button', { name: /QU$/ }).click();
  await page.getByLabel('API key').fill(ownKey);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.keyboard.press('Escape');
}

/** What the endpoint answers to everyone who may call it. */
async function called(
  search: string,
  key?: string,
): Promise<{ readonly status: number; readonly rows: unknown }> {
  const { status, body } = await world.api.app
    .inject({
      url: `/v0/q/acme/shop-payments${search}`,
      headers: key === undefined ? {} : { 'x-api-key': key },
    })
    .then((answer) => ({ status: answer.statusCode, body: answer.json<{ rows?: unknown }>() }));
  return { status, rows: body.rows };
}

describe.skipIf(!browserIsThere())('saved queries', () => {
  beforeAll(async () => {
    const now = Math.floor(Date.now() / 1_000);
    world = await openConsole({
      runsJobs: true,
      seed: ({ writer }) =>
        insertSettlements(
          writer,
          Array.from({ length: PAYMENTS }, (_, n) =>
            settlement({ blockNumber: 1_000 + n, blockTime: now - 60 - n, payee: wallet(0xb0 + (n % 2)) }),
          ),
        ),
    });
    ownKey = await addManagerKey(world);
    visitor = await openPage(world.browser, world.origin);
  });
  afterAll(() => world?.close());
  afterEach(() => expect(visitor.problems()).toEqual([]));

  it('are none of the key that is lent to visitors, which says whose could be saved', async () => {
    await openWith(FIRST, { shop: SHOP });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Run' }).waitFor();
    expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Saved', exact: true }).click();
    await page.getByText('This needs a key of your own').waitFor();
    await page.getByRole('button', { name: 'Tables', exact: true }).click();
  });

  it('are saved with a title, a price and a parameter, and answer to others', async () => {
    await useOwnKey();
    const { page } = visitor;
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await field('Name').fill('Payments of a shop');
    // A name is enough; the rest is for those who share it.
    expect(await field('Name in its address').isVisible()).toBe(false);
    await dialog().getByText('Share, refresh and limits').click();
    expect(await field('Name in its address').inputValue()).toBe('payments-of-a-shop');
    await field('Name in its address').fill('shop-payments');
    await field('What it answers').fill('How many payments a shop got.');
    await field('Meaning').fill('Address of the shop');
    expect(await field('Default').inputValue()).toBe(SHOP);
    await field('Who may call it').selectOption('public');
    await field('Your price for each call of others').fill('3');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog().getByRole('button', { name: 'Save' }).click();
    await field('Handle of your organization').fill('acme');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('/v0/q/acme/shop-payments').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    expect(await called('', ownKey)).toEqual({ status: 200, rows: [{ payments: String(PAYMENTS / 2) }] });
    expect(await called(`?shop=${wallet(0xcc)}`, ownKey)).toEqual({ status: 200, rows: [{ payments: '0' }] });
    expect((await called('?shopp=1', ownKey)).status).toBe(400);
    expect(await world.api.access.access.store.saved.handle({ handle: 'acme' })).toMatchObject({
      organizationId: world.organizationId,
    });
  });

  it('keep their price, visibility and words when the text of the tab is saved as the next version', async () => {
    const { page } = visitor;
    await page.getByRole('textbox', { name: 'SQL query' }).click();
    await page.keyboard.press('Control+a');
    // By itself: in place of a selection Chromium inserts text in a style of its own, which the policy of the page blocks.
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(SECOND);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog().getByRole('heading', { name: 'Save a version of shop-payments' }).waitFor();
    expect(await field('Name').inputValue()).toBe('Payments of a shop');
    expect(await field('Who may call it').inputValue()).toBe('public');
    expect(await field('Your price for each call of others').inputValue()).toBe('3');
    expect(await field('Meaning').inputValue()).toBe('Address of the shop');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByRole('heading', { name: 'Saved as a new version' }).waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    expect((await called('', ownKey)).rows).toMatchObject([{ payments: String(PAYMENTS / 2) }]);
    expect(await called('?version=1', ownKey)).toEqual({
      status: 200,
      rows: [{ payments: String(PAYMENTS / 2) }],
    });
  });

  it('are listed next to the tables with their versions, and on the page of the account', async () => {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Saved', exact: true }).click();
    const listed = page.getByRole('list', { name: 'Saved queries' });
    await listed.getByText('version 2').waitFor();
    await listed.getByRole('button', { name: 'More' }).click();
    await listed.getByRole('button', { name: 'Version 1' }).click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'SQL query' }).locator('.cm-line').allTextContents())
      .toEqual([FIRST]);
    await page.goto('/console/account/saved');
    await page.getByRole('row', { name: /Payments of a shop/ }).waitFor();
    expect(await page.getByRole('row', { name: /Payments of a shop/ }).textContent()).toContain('public');
    await looksRight(visitor, 'account-saved');
  });

  it('go with their address, after a second click', async () => {
    const { page } = visitor;
    await page.goto('/console/sql');
    const listed = page.getByRole('list', { name: 'Saved queries' });
    await listed.getByRole('button', { name: 'More' }).click();
    await listed.getByRole('button', { name: 'Remove' }).click();
    expect((await called('', ownKey)).status).toBe(200);
    await listed.getByRole('button', { name: 'Remove shop-payments and its address for good' }).click();
    await page.getByText('No saved queries').waitFor();
    expect((await called('', ownKey)).status).toBe(404);
    await visitor.close();
  });

  it('a file becomes a table that the next query joins, says what is wrong with it, and goes', async () => {
    visitor = await openPage(world.browser, world.origin, { key: ownKey });
    await openWith(
      'SELECT label, count() AS payments FROM settlements JOIN my.shop_labels AS l ON l.wallet = payee GROUP BY label',
      {},
    );
    const { page } = visitor;
    const tables = page.getByRole('region', { name: 'Your tables' });
    await tables.locator('summary', { hasText: 'Add a table' }).press('Enter');
    const send = async (text: string): Promise<void> => {
      const file = { name: 'Shop labels.csv', mimeType: '', buffer: Buffer.from(text) };
      await tables.getByLabel('File of CSV, NDJSON or Parquet').setInputFiles(file);
      expect(await tables.getByLabel('Name in SQL').inputValue()).toBe('shop_labels');
      await tables.getByRole('button', { name: 'Add', exact: true }).press('Enter');
    };
    await send('wallet,wallet\n1,2\n');
    await tables.getByText(/Duplicate column name/).waitFor();
    await looksRight(visitor, 'own-tables');
    await page.setViewportSize({ width: 1_360, height: 860 });
    await send(`wallet,label\n${SHOP},Shop\n`);
    await tables.getByText('my.shop_labels', { exact: true }).click();
    await tables.getByRole('button', { name: 'label String' }).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('gridcell', { name: 'Shop' }).first().waitFor();
    await looksRight(visitor, 'own-table');
    await page.setViewportSize({ width: 1_360, height: 860 });
    await tables.getByRole('button', { name: 'Remove' }).click();
    await tables.getByRole('button', { name: 'Remove my.shop_labels for good' }).click();
    await tables.getByText('my.shop_labels', { exact: true }).waitFor({ state: 'detached' });
  });
});
