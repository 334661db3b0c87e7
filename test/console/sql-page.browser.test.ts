import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  browserIsThere,
  openPage,
  type PageOptions,
  seriousFindings,
  type WatchedPage,
} from '../kit/browser.ts';
import { addManagerKey, type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { keepPicture } from '../kit/pictures.ts';
import { insertSettlements, settlement, wallet } from '../kit/rows.ts';
import { waitUntil } from '../kit/wait-until.ts';

/** The flows of the SQL page: open queries, questions, the cost of a run, and uses of its rows. */

const PAYMENTS = 120;
const LISTED =
  'SELECT payer, count() AS payments, sum(amount_usd) AS usd, max(block_time) AS newest, groupArray(log_index) AS logs FROM settlements GROUP BY payer ORDER BY usd DESC';
/** Minutes of work on two idle cores, and rows within the cap: it runs until it is cancelled. */
const LONG = 'SELECT sum(length(SHA512(SHA512(toString(number))))) FROM numbers(1000000000)';

let world: ConsoleWorld;
/** Runs are jobs, and results are kept, with a key of one’s own. */
let key: string;
let visitor: WatchedPage;

const editor = () => visitor.page.getByRole('textbox', { name: 'SQL query' });
const result = () => visitor.page.getByRole('region', { name: 'Result' });
const grid = () => result().getByRole('grid', { name: 'Result' });
const queries = () => visitor.page.getByRole('tablist', { name: 'Queries' }).getByRole('tab');

async function openWith(sql: string, options: PageOptions = {}): Promise<void> {
  visitor = await openPage(world.browser, world.origin, { key, ...options });
  await visitor.page.goto(`/console/sql#${new URLSearchParams({ q: sql }).toString()}`);
  await editor().locator('.cm-line').first().waitFor();
}

async function run(): Promise<void> {
  await visitor.page.getByRole('button', { name: 'Run' }).click();
  await result()
    .getByText(/^charged 1 QU/)
    .waitFor();
}

async function typedText(): Promise<string> {
  return (await editor().locator('.cm-line').allTextContents()).join('\n');
}

/** What the organization of the visitor has left. */
async function balance(): Promise<number> {
  const units = await world.api.access.access.store.units.balance(world.organizationId);
  if (units === null) throw new Error('the organization has no balance');
  return units.balance;
}

async function copied(name: string): Promise<string> {
  await visitor.page.evaluate("navigator.clipboard.writeText('')");
  await result().getByRole('button', { name }).click();
  await waitUntil(
    'something is copied',
    async () => (await visitor.page.evaluate('navigator.clipboard.readText()')) !== '',
  );
  return String(await visitor.page.evaluate('navigator.clipboard.readText()'));
}

describe.skipIf(!browserIsThere())('the SQL page', () => {
  beforeAll(async () => {
    const now = Math.floor(Date.now() / 1_000);
    world = await openConsole({
      seed: ({ writer }) =>
        insertSettlements(
          writer,
          Array.from({ length: PAYMENTS }, (_, n) =>
            settlement({
              blockNumber: 1_000 + n,
              blockTime: now - 60 - n,
              payer: wallet(0xa0 + (n % 6)),
              payee: wallet(0xb0 + (n % 3)),
              amountUsdMicros: BigInt(10_000 + n * 1_237),
            }),
          ),
        ),
    });
    key = await addManagerKey(world);
  });

  afterAll(() => world?.close());

  afterEach(async () => {
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  it('keeps tabs with their names, texts and results over a reload, without another charge', async () => {
    await openWith(LISTED);
    const { page } = visitor;
    await run();
    const before = await balance();
    await page.getByRole('button', { name: 'New query' }).click();
    await editor().click();
    await page.keyboard.type('SELECT 2 AS two');
    await queries().nth(1).focus();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'Name of the query' }).fill('Second');
    await page.keyboard.press('Enter');
    await waitUntil('the renamed tab has the focus', () =>
      queries()
        .nth(1)
        .evaluate((tab) => tab === document.activeElement),
    );
    // As if the page was loaded again before the address followed the text.
    await page.evaluate(
      (hash) => history.replaceState(history.state, '', hash),
      `#${new URLSearchParams({ q: LISTED })}`,
    );
    const entry = await page.evaluate('history.state');
    await page.reload();
    await editor().locator('.cm-line').first().waitFor();
    expect(await queries().allTextContents()).toEqual(['settlements', 'Second']);
    // What the browser kept of the entry says which tab it shows.
    expect(await page.evaluate('history.state')).toEqual(entry);
    expect(await typedText()).toBe('SELECT 2 AS two');
    await queries().first().click();
    await grid().getByRole('gridcell').first().waitFor();
    await result()
      .getByText(/^charged 1 QU/)
      .waitFor();
    expect(await typedText()).toBe(LISTED);
    await queries().nth(1).focus();
    await page.keyboard.press('Delete');
    expect(await queries().allTextContents()).toEqual(['settlements']);
    expect(await balance()).toBe(before);
  });

  it('lays a query out, and undoes it as one step', async () => {
    await openWith(
      "select payee, sum(amount_usd) as usd from settlements where chain != 'a  b' group by payee",
    );
    await visitor.page.getByRole('button', { name: 'Format' }).click();
    await waitUntil('it has lines', async () => (await typedText()).includes('\n'));
    expect(await typedText()).toBe(
      "select\n  payee,\n  sum(amount_usd) as usd\nfrom settlements\nwhere chain != 'a  b'\ngroup by payee",
    );
    await editor().click();
    await visitor.page.keyboard.press('Control+z');
    expect(await typedText()).not.toContain('\n');
  });

  it('asks for typed values next to the editor, and finds fault only with values that were entered', async () => {
    await openWith(
      "SELECT count() AS n FROM settlements WHERE payee = {shop:String} AND log_index < {most:UInt8} AND finality = {state:Enum8('head' = 1, 'finalized' = 2)}",
    );
    const { page } = visitor;
    const most = page.getByLabel('most UInt8');
    expect(await page.locator('.parameter.faulty').count()).toBe(0);
    await most.fill('300');
    expect(await page.locator('.parameter.faulty').count()).toBe(0);
    await page.getByLabel('shop String').fill(wallet(0xb1));
    await page.getByText('Enter a whole number from 0 to 255.').waitFor();
    await most.fill('200');
    await page.getByText('Enter a whole number from 0 to 255.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Run' }).click();
    // The one without a value has the focus, and nothing ran.
    const state = page.getByLabel(/^state Enum8/);
    await page.getByText('Choose one of head, finalized.').or(page.getByText('Enter a value.')).waitFor();
    expect(await state.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await keepPicture(page, 'sql-parameters');
    await state.selectOption('finalized');
    await run();
    expect(await grid().getByRole('gridcell').first().textContent()).toMatch(/^\d+$/);
  });

  it('underlines a constant that matches nothing, and writes the right one on a click', async () => {
    await openWith("SELECT count() FROM settlements WHERE chain = 'base'");
    const { page } = visitor;
    await page.getByRole('button', { name: "Write 'eip155:8453'" }).waitFor();
    expect(await editor().locator('.cm-lintRange-warning').first().textContent()).toContain('base');
    await keepPicture(page, 'sql-warning');
    await page.getByRole('button', { name: "Write 'eip155:8453'" }).click();
    await waitUntil('it is written', async () => (await typedText()).includes("chain = 'eip155:8453'"));
    await page.getByRole('button', { name: 'Only the last 30 days' }).click();
    await waitUntil('it is written', async () =>
      (await typedText()).includes("WHERE block_time >= now() - INTERVAL 30 DAY AND chain = 'eip155:8453'"),
    );
  });

  it('shows how far a long query is, follows it over a reload, and cancels it', async () => {
    await openWith(LONG);
    const { page } = visitor;
    await page.getByLabel('Tier').selectOption('extended');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('progressbar', { name: 'Progress of the query' }).waitFor();
    await page.getByText(/QU .*so far$/).waitFor();
    await keepPicture(page, 'sql-running');
    await page.reload();
    await page.getByText(/so far$/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await result()
      .getByText(/^Cancelled after/)
      .waitFor();
  });

  it('shows how far a query of a visitor without a key of their own is, and what it cost once it is cancelled', async () => {
    visitor = await openPage(world.browser, world.origin);
    const { page } = visitor;
    const before = await balance();
    await page.goto(`/console/sql#${new URLSearchParams({ q: LONG }).toString()}`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText(/of about 1,000,000,000 rows/).waitFor();
    await page.getByText(/ of memory$/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await result()
      .getByText(/^The engine stopped\. The time until then is charged: \d QU\.$/)
      .waitFor();
    expect(await balance()).toBeLessThan(before);
  });

  it('downloads in every format and opens the history without a second charge', async () => {
    await openWith(LISTED);
    const { page } = visitor;
    await run();
    const before = await balance();
    for (const name of ['CSV', 'Parquet', 'Arrow', 'NDJSON']) {
      const coming = page.waitForEvent('download');
      await page.getByRole('button', { name: `Download ${name}` }).click();
      expect(readFileSync(await (await coming).path()).length).toBeGreaterThan(100);
    }
    await queries().first().focus();
    await page.keyboard.press('Delete');
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('button', { name: /^SELECT payer, count/ }).click();
    await grid().getByRole('gridcell').first().waitFor();
    expect(await typedText()).toBe(LISTED);
    expect(await balance()).toBe(before);
  });

  it('copies rows as TSV, JSON and SQL that gives them again', async () => {
    await openWith(LISTED);
    await run();
    const first = wallet(0xa5);
    const tsv = await copied('Copy rows as TSV');
    expect(tsv.split('\n')[0]).toBe('payer\tpayments\tusd\tnewest\tlogs');
    const rows = JSON.parse(await copied('Copy rows as JSON')) as { payer: string; usd: string }[];
    expect(rows).toHaveLength(6);
    expect(rows.map(({ payer }) => payer)).toContain(first);
    const text = await copied('Copy rows as SQL');
    const { page } = visitor;
    await editor().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(text);
    await page.getByText(/^Estimate/).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await result().getByText('The query has changed').waitFor({ state: 'detached' });
    await result()
      .getByText(/^charged 1 QU/)
      .waitFor();
    const again = JSON.parse(await copied('Copy rows as JSON')) as typeof rows;
    expect(again).toEqual(rows);
  });

  it('filters, pins, widens and unfolds, and shows a wallet next to the rows', async () => {
    await openWith(LISTED);
    await run();
    const { page } = visitor;
    await page.getByPlaceholder('Filter rows').fill(wallet(0xa2).slice(-6));
    await result().getByText('1 of 6 rows').waitFor();
    await page.getByPlaceholder('Filter rows').fill('> 1000000');
    await page.getByLabel('Column of the filter').selectOption({ label: 'in usd' });
    await result().getByText('0 of 6 rows').waitFor();
    await page.getByPlaceholder('Filter rows').fill('');
    await grid().getByRole('button', { name: 'Column usd' }).click();
    await page.getByRole('menuitem', { name: 'Pin to the left' }).click();
    expect(await grid().getByRole('columnheader').first().textContent()).toContain('usd');
    const head = grid().getByRole('columnheader').nth(1);
    const before = (await head.boundingBox())?.width ?? 0;
    await grid().getByRole('button', { name: 'Column payer' }).click();
    await page.getByRole('menuitem', { name: 'Narrower' }).click();
    await waitUntil('it is narrower', async () => ((await head.boundingBox())?.width ?? 0) < before);
    await page.keyboard.press('Escape');
    const edge = await head.boundingBox();
    if (edge === null) throw new Error('the column is not shown');
    await page.mouse.move(edge.x + edge.width - 3, edge.y + 10);
    await page.mouse.down();
    await page.mouse.move(edge.x + edge.width + 97, edge.y + 10, { steps: 4 });
    await page.mouse.up();
    await waitUntil('it is wider', async () => ((await head.boundingBox())?.width ?? 0) > edge.width + 80);
    await grid().getByRole('gridcell').nth(4).click();
    await result().getByRole('button', { name: 'Show all' }).click();
    expect(await result().locator('.cell-bar pre').textContent()).toContain('\n');
    await grid()
      .getByRole('link', { name: wallet(0xa5) })
      .click();
    const panel = page.getByRole('complementary', { name: 'Wallet' });
    await panel.getByText('Received').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await keepPicture(page, 'sql-wallet');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/console/sql');
  });

  it('finds worked questions and opens one in a tab, as the documentation does', async () => {
    await openWith('SELECT 1');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Examples' }).click();
    await page.getByLabel('Search the examples').fill('back and forth');
    await page.getByRole('button', { name: /^Who pays each other back and forth/ }).click();
    expect(await queries().allTextContents()).toEqual(['New query', 'Who pays each other back and forth?']);
    await page.goto('/docs/cookbook');
    const link = page.locator('a.open[href*="p.merchant="]').first();
    const { hash } = new URL((await link.getAttribute('href')) ?? '', page.url());
    await link.click();
    await editor().locator('.cm-line').first().waitFor();
    const value = await page.getByLabel('merchant String').inputValue();
    expect(value).toMatch(/^0x[0-9a-f]{40}$/);
    expect(value).toBe(new URLSearchParams(hash.slice(1)).get('p.merchant'));
    expect(await queries().count()).toBe(3);
  });

  it('keeps the choice of a chart in the link', async () => {
    const chart = JSON.stringify({ kind: 'bar', x: 'payer', y: ['usd'] });
    visitor = await openPage(world.browser, world.origin);
    const { page } = visitor;
    await page.goto(`/console/sql#${new URLSearchParams({ q: LISTED, chart }).toString()}`);
    await editor().locator('.cm-line').first().waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    const link = new URL(String(await page.evaluate('navigator.clipboard.readText()')));
    expect(new URLSearchParams(link.hash.slice(1)).get('chart')).toBe(chart);
  });

  it('divides the height of the window by pointer and keys, and remembers it', async () => {
    await openWith(LISTED, { width: 1_440, height: 900 });
    const { page } = visitor;
    expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true);
    const bar = page.getByRole('separator', { name: 'Height of the editor' });
    const height = async (): Promise<number> =>
      (await editor().locator('xpath=ancestor::*[contains(@class,"cm-editor")]').boundingBox())?.height ?? 0;
    const first = await height();
    await bar.focus();
    await page.keyboard.press('ArrowDown');
    await waitUntil('it is higher', async () => (await height()) === first + 16);
    const place = await bar.boundingBox();
    if (place === null) throw new Error('there is no splitter');
    await page.mouse.move(place.x + 300, place.y + 6);
    await page.mouse.down();
    await page.mouse.move(place.x + 300, place.y + 106, { steps: 4 });
    await page.mouse.up();
    await waitUntil('it follows the pointer', async () => (await height()) === first + 116);
    await page.reload();
    await editor().locator('.cm-line').first().waitFor();
    expect(await height()).toBe(first + 116);
    expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true);
  });

  it.each([
    { width: 390, theme: 'light' },
    { width: 390, theme: 'dark' },
    { width: 768, theme: 'light' },
    { width: 768, theme: 'dark' },
    { width: 1_440, theme: 'light' },
    { width: 1_440, theme: 'dark' },
  ] as const)('fits $width px in the $theme theme', async ({ width, theme }) => {
    await openWith(LISTED, { width, theme, height: 900 });
    await run();
    const { page } = visitor;
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await keepPicture(page, `sql-${width}-${theme}`);
    await grid().getByRole('link').first().click();
    await page.getByRole('complementary', { name: 'Wallet' }).getByText('Received').waitFor();
    await keepPicture(page, `sql-${width}-${theme}-wallet`);
  });
});
