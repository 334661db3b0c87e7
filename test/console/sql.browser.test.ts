import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../clickhouse/engine/sql.ts';
import { browserIsThere, openPage, seriousFindings, type WatchedPage } from '../kit/browser.ts';
import { addManagerKey, type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { lengthOf } from '../kit/lengths.ts';
import { keepPicture } from '../kit/pictures.ts';
import { insertSettlements, settlement, wallet } from '../kit/rows.ts';
import { readParquet } from '../kit/sql-api.ts';
import { randomOf, typedQueries } from '../kit/typed-queries.ts';
import { waitUntil } from '../kit/wait-until.ts';

const DAYS = 7;
const PER_DAY = 40;
const DAY_SECONDS = 86_400;

const DAILY =
  'SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements GROUP BY day ORDER BY day';
/** Minutes of work on two idle cores, and rows within the cap: it runs until it is cancelled. */
const LONG = 'SELECT sum(length(SHA512(SHA512(toString(number))))) FROM numbers(1000000000)';

let world: ConsoleWorld;
let visitor: WatchedPage;

function payments() {
  const now = Math.floor(Date.now() / 1_000);
  return Array.from({ length: DAYS * PER_DAY }, (_, n) =>
    settlement({
      blockNumber: 1_000 + n,
      blockTime: now - Math.floor(n / PER_DAY) * DAY_SECONDS - 60,
      payer: wallet(0xa0 + (n % 9)),
      payee: wallet(0xb0 + (n % 5)),
      amountUsdMicros: BigInt(10_000 + n * 1_237),
    }),
  );
}

const editor = () => visitor.page.getByRole('textbox', { name: 'SQL query' });
const result = () => visitor.page.getByRole('region', { name: 'Result' });

/** Opens the page with a query in its address; it is not run by that. */
async function openWith(sql: string, options: Parameters<typeof openPage>[2] = {}): Promise<void> {
  visitor = await openPage(world.browser, world.origin, options);
  await visitor.page.goto(`/console/sql#${new URLSearchParams({ q: sql }).toString()}`);
  await editorIsThere();
}

/** Its box stands on the page a frame before its text. */
const editorIsThere = () => editor().locator('.cm-line').first().waitFor();

async function run(): Promise<void> {
  await visitor.page.getByRole('button', { name: 'Run' }).click();
}

describe.skipIf(!browserIsThere())('the SQL page', () => {
  beforeAll(async () => {
    world = await openConsole({ seed: ({ writer }) => insertSettlements(writer, payments()) });
  });

  afterAll(() => world?.close());

  afterEach(async () => {
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  describe('with a query', () => {
    beforeEach(() => openWith(DAILY));

    it('shows its price, runs on Ctrl+Enter, and shows the charge, the balance and every digit', async () => {
      const asked = new Set<string>();
      visitor.page.on('request', (request) =>
        asked.add(`${request.method()} ${new URL(request.url()).pathname}`),
      );
      await visitor.page.getByText(/^Estimate \d/).waitFor();
      await editor().click();
      await visitor.page.keyboard.press('Control+Enter');
      await result().getByText('charged 1 QU').waitFor();
      const cells = result().getByRole('gridcell');
      expect(await cells.count()).toBe(DAYS * 3);
      const { page } = visitor;
      await page.getByRole('button', { name: 'Demo visitor 9,999 QU' }).waitFor();
      // The key that all visitors share has no jobs.
      expect([...asked].filter((call) => /\/(sql\/jobs|results|queries)/.test(call))).toEqual([]);
      await result().getByText('With a key of your own, the result is kept').waitFor();
      const answer = await page.evaluate(
        `fetch('/v0/sql', { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': document.querySelector('meta[name=six-visitor-key]').content }, body: JSON.stringify({ sql: ${JSON.stringify(DAILY)} }) }).then((response) => response.json())`,
      );
      const [first] = (answer as { rows: { usd: string }[] }).rows;
      expect((await cells.nth(2).textContent())?.replaceAll(',', '')).toBe(first?.usd);
      expect(await seriousFindings(page)).toEqual([]);
      await keepPicture(page, 'sql-light');
    });

    it('downloads the whole result as CSV and as Parquet, with a key of one’s own', async () => {
      await visitor.close();
      await openWith(DAILY, { key: await addManagerKey(world) });
      await run();
      const csv = await downloaded('Download CSV');
      expect(csv.toString().split('\n')[0]).toBe('"day","settlements","usd"');
      expect(csv.toString().trim().split('\n')).toHaveLength(DAYS + 1);
      const parquet = await downloaded('Download Parquet');
      const rows = await readParquet(world.engine, parquet, 'settlements UInt64');
      expect(rows.map(({ settlements }) => Number(settlements)).reduce((a, b) => a + b)).toBe(DAYS * PER_DAY);
    });

    it('keeps the query for the next visit, in its history, and behind a link without a key', async () => {
      await run();
      await result().getByText('charged 1 QU').waitFor();
      await visitor.page.getByRole('button', { name: /Copy link/ }).click();
      const link = String(await visitor.page.evaluate('navigator.clipboard.readText()'));
      expect(new URLSearchParams(new URL(link).hash.slice(1)).get('q')).toBe(DAILY);
      expect(link).not.toContain('six_');
      await visitor.page.goto('/console');
      await visitor.page.goto('/console/sql');
      await editorIsThere();
      expect(await editor().textContent()).toBe(DAILY);
      await visitor.page.getByRole('tab', { name: 'History' }).click();
      await visitor.page.getByRole('button', { name: 'SELECT toDate(block_time)' }).waitFor();
    });
  });

  it('offers a query of another dialect in the SQL of ClickHouse, and does not run it by itself', async () => {
    const text =
      'SELECT "to", COUNT_IF(amount_usd > 0) AS n FROM tokens.transfers GROUP BY 1 ORDER BY 2 DESC';
    await suggestionIsKnown(text);
    await openWith(text);
    await run();
    await result().getByText('ClickHouse SQL').first().waitFor();
    await result().getByRole('button', { name: 'Use this query' }).click();
    await waitUntil(
      'the editor holds it',
      async () => (await editor().textContent())?.includes('countIf') === true,
    );
    expect(await result().getByRole('gridcell').count()).toBe(0);
    await run();
    await result().getByText('charged 1 QU').waitFor();
    expect(await result().getByRole('gridcell').count()).toBe(5 * 2);
    expect(await seriousFindings(visitor.page)).toEqual([]);
  });

  it('keeps what was typed a moment before leaving, by the address or by a link', async () => {
    await openWith('SELECT 1 AS first');
    const { page } = visitor;
    const comeBack = async (): Promise<string | null> => {
      await page.goto('/console/sql');
      await editorIsThere();
      return editor().textContent();
    };
    const type = async (text: string): Promise<void> => {
      await editor().click();
      await page.keyboard.press('Control+End');
      await page.keyboard.insertText(text);
    };
    await type(', 2 AS second');
    await page.goto('/console/status');
    expect(await comeBack()).toBe('SELECT 1 AS first, 2 AS second');
    await type(', 3 AS third');
    await page.getByRole('link', { name: 'Settlements', exact: true }).click();
    expect(await comeBack()).toBe('SELECT 1 AS first, 2 AS second, 3 AS third');
  });

  it('without a key shows the price, says what a run needs, and takes a key that no address ever shows', async () => {
    visitor = await openPage(world.browser, world.origin);
    const { page } = visitor;
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await page.route('**/console/sql', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/<meta name="six-visitor-key"[^>]*>/, ''),
      });
    });
    await page.goto('/console/sql');
    await page.getByText(/^Estimate \d/).waitFor();
    await run();
    await result().getByText('This needs a key').waitFor();
    await result().getByRole('button', { name: 'Enter a key' }).click();
    await page.getByLabel('API key').fill(world.visitorKey);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('Query Units').first().waitFor();
    await keepPicture(page, 'key-dialog-light');
    await page.keyboard.press('Escape');
    await run();
    await result().getByText('charged 1 QU').waitFor();
    expect([...addresses, page.url()].filter((address) => address.includes('six_'))).toEqual([]);
    await page.getByLabel('Theme').selectOption('dark');
    await page.reload();
    await page.getByRole('button', { name: /QU$/ }).waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  });

  it('cancels a long query at once, and the engine stops it', async () => {
    await openWith(LONG);
    await run();
    await visitor.page.getByText('Running for').waitFor();
    await waitUntil('the engine runs it', async () => (await running()) === 1);
    await visitor.page.getByRole('button', { name: 'Cancel' }).click();
    await result()
      .getByText(/^Cancelled after/)
      .waitFor();
    await waitUntil('the engine stopped it', async () => (await running()) === 0);
  });

  it('marks an error where the API reports it, and moves the cursor there', async () => {
    await openWith('SELECT payee,\n  usd\nFROM settlementz');
    await run();
    await visitor.page.getByRole('button', { name: 'Line 3, column 6: settlementz' }).click();
    expect(await editor().locator('.cm-lintRange-error').textContent()).toBe('settlementz');
    await keepPicture(visitor.page, 'sql-problem-light');
  });

  it('asks for the values of placeholders and binds them', async () => {
    await openWith('SELECT count() AS payments FROM settlements WHERE payee = {shop:String}');
    await visitor.page.getByLabel('shop String').fill(wallet(0xb1));
    await run();
    expect(await result().getByRole('gridcell').first().textContent()).toBe(String((DAYS * PER_DAY) / 5));
  });

  it('completes names of the schema while they are typed', async () => {
    await openWith('SELECT  FROM settlements');
    await visitor.page.getByText('wallet_settlements', { exact: true }).waitFor();
    await editor().click();
    await visitor.page.keyboard.press('Home');
    await visitor.page.keyboard.press('End');
    for (let n = 0; n < ' FROM settlements'.length; n++) await visitor.page.keyboard.press('ArrowLeft');
    await visitor.page.keyboard.type('amount_');
    await visitor.page.getByRole('option', { name: /amount_usd/ }).waitFor();
    await keepPicture(visitor.page, 'sql-completion-light');
  });

  it('keeps every query as it is typed, with pauses in which completions open', async () => {
    await openWith('SELECT 1');
    const { page } = visitor;
    await page.getByText('wallet_settlements', { exact: true }).waitFor();
    const random = randomOf(TYPING_SEED);
    let lists = 0;
    for (const query of typedQueries(lengthOf('typedQueries'), random)) {
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      const stop = random(query.length);
      await page.keyboard.type(query.slice(0, stop));
      await page.waitForTimeout(PAUSE_MS);
      lists += await page.getByRole('listbox').count();
      await page.keyboard.type(query.slice(stop));
      expect(await typedText()).toBe(query);
    }
    expect(lists).toBeGreaterThan(0);
  });

  it('opens no list on a whole word; Tab takes a completion and Enter begins a line', async () => {
    await openWith('SELECT ');
    const { page } = visitor;
    await page.getByText('wallet_settlements', { exact: true }).waitFor();
    // The cursor is in the editor when the page opens, behind the text.
    await page.keyboard.type('payer_i');
    await page.getByRole('option', { name: /payer_id/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('payer_i');
    await page.getByRole('option', { name: /payer_id/ }).waitFor();
    // The editor takes no key as a choice within 75 ms of opening a list (`interactionDelay` of CodeMirror).
    await page.waitForTimeout(PAUSE_MS);
    await page.keyboard.press('Tab');
    expect(await typedText()).toBe('SELECT payer_i\npayer_id');
    await page.keyboard.type(' AS first_payer FROM settlements ORDER BY first_');
    await page.getByRole('option', { name: /first_payer/ }).waitFor();
    await page.keyboard.type('payer');
    await page.getByRole('listbox').waitFor({ state: 'detached' });
  });

  it('holds only the visible rows of ten thousand, sorts all of them, and moves with the keys', async () => {
    await openWith(
      'SELECT number, toString(number % 100) AS text, toDecimal64(number, 6) / 7 AS share FROM numbers(20000)',
    );
    await visitor.page.getByLabel('Rows').selectOption('10000');
    await run();
    const grid = visitor.page.getByRole('grid', { name: 'Result' });
    await grid.waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe('10001');
    expect(await grid.getByRole('row').count()).toBeLessThan(60);
    await visitor.page.getByText('There are more rows than these 10,000').waitFor();
    await grid.getByRole('button', { name: 'number integer' }).click();
    expect(await grid.getByRole('gridcell').first().textContent()).toBe('9,999');
    await grid.focus();
    await visitor.page.keyboard.press('ArrowDown');
    await visitor.page.keyboard.press('Control+End');
    await visitor.page.keyboard.press('Home');
    await visitor.page.keyboard.press('Enter');
    await waitUntil(
      'the cell is copied',
      async () => (await visitor.page.evaluate('navigator.clipboard.readText()')) === '0',
    );
  });

  it('works in the dark theme and on a narrow screen', async () => {
    await openWith(DAILY, { theme: 'dark', width: 390, height: 844 });
    await run();
    await result().getByText('charged 1 QU').waitFor();
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await seriousFindings(visitor.page)).toEqual([]);
    await keepPicture(visitor.page, 'sql-dark-narrow');
  });
});

const TYPING_SEED = 20_261_125;
/** Longer than the editor waits before it opens a list (100 ms). */
const PAUSE_MS = 200;

/** The sandbox gives a text up that is not translated within a second, as the first one on a busy machine, and remembers others. */
async function suggestionIsKnown(text: string): Promise<void> {
  let asked = 0;
  await waitUntil('the sandbox has a suggestion', async () => {
    asked += 1;
    // A caller whose texts were given up is not answered for a while.
    return (await world.sandbox.suggest({ text, parameters: {}, caller: `first ${asked}` })) !== null;
  });
}

async function typedText(): Promise<string> {
  return (await editor().locator('.cm-line').allTextContents()).join('\n');
}

async function downloaded(name: string): Promise<Buffer> {
  const coming = visitor.page.waitForEvent('download');
  await visitor.page.getByRole('button', { name }).click();
  return readFileSync(await (await coming).path());
}

async function running(): Promise<number> {
  const { rows } = await world.engine.writer.rows({
    name: 'queries-of-visitors',
    sql: sql`SELECT count() FROM system.processes WHERE user = 'guest' AND query LIKE 'SELECT sum(%'`,
    maxSeconds: 5,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}
