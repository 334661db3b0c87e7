import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserIsThere, openPage, startBrowser, type WatchedPage } from '../kit/browser.ts';
import { type DemoRuns, demoRuns, printed } from '../kit/demo-run.ts';
import { watchSecret } from '../kit/secrets-watch.ts';

/**
 * What a first-time reader does: starts the demo as the README says, opens its console, enters the printed key, asks a question of their own, looks at it as a
 * chart, saves it as an endpoint with a price, and an agent without a key buys it over x402.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DAILY =
  'SELECT toDate(block_time) AS day, chain, count() AS settlements FROM settlements GROUP BY day, chain ORDER BY day';
const AUTHOR_QU = 2;

let runs: DemoRuns;
let browser: Browser;
let reader: WatchedPage;

describe.skipIf(!browserIsThere())('the path of a first-time reader', () => {
  beforeAll(async () => {
    runs = demoRuns();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await runs?.close();
  });

  it('leads from the README over the demo and its console to a query that an agent buys', async () => {
    expect(readFileSync(`${ROOT}README.md`, 'utf8')).toContain('npm run demo');
    const run = runs.fromSources('--port', '0', '--seed', '5');
    await run.says('its key');
    const consoleUrl = printed(run, 'console');
    const { origin } = new URL(consoleUrl);
    const [key = ''] = /six_live_\w+/.exec(run.output()) ?? [];
    watchSecret(key);
    reader = await openPage(browser, origin);
    const { page } = reader;

    await page.goto(consoleUrl);
    // The console asks with a key of its own, which all visitors share; saving takes one's own.
    await page.getByRole('button', { name: /QU$/ }).click();
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'SQL', exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'SQL query' });
    await editor.locator('.cm-line').first().waitFor();
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(DAILY);
    const result = page.getByRole('region', { name: 'Result' });
    await runQuery(page);
    expect(await result.getByRole('gridcell').count()).toBeGreaterThan(3);

    await result.getByRole('tab', { name: 'Chart' }).click();
    await result.getByRole('img', { name: /settlements/ }).waitFor();

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Settlements by day');
    await dialog.getByText('Share, refresh and limits').click();
    expect(await dialog.getByLabel('Name in its address').inputValue()).toBe('settlements-by-day');
    await dialog.getByLabel('Who may call it').selectOption('public');
    await dialog.getByLabel('Your price for each call of others').fill(String(AUTHOR_QU));
    await dialog.getByRole('button', { name: 'Save' }).click();
    const address = dialog.locator('.saved-url');
    await address.waitFor();
    const url = (await address.textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(new URL(url).pathname).toBe('/v0/q/demo/settlements-by-day');

    const before = await balanceOf(page);
    // No agent calls it for nothing; each pays the stated price.
    const offered = await fetch(url);
    expect(offered.status).toBe(402);
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), 'demo/pay.ts', url],
      { cwd: ROOT },
    );
    expect(stderr).toMatch(/^200, paid by 0x/);
    const bought = JSON.parse(stdout) as { readonly rows: readonly object[] };
    expect(bought.rows[0]).toMatchObject({ day: expect.any(String), settlements: expect.any(String) });

    // The author has more units than before the purchase.
    await page.reload();
    await expect.poll(() => balanceOf(page)).toBe(before + AUTHOR_QU);
    expect(reader.problems()).toEqual([]);
  });
});

const RUNS_MAX = 3;

/** Presses Run, and again where a busy machine had no time for the query, as a reader would. */
async function runQuery(page: Page): Promise<void> {
  const result = page.getByRole('region', { name: 'Result' });
  const charged = result.getByText(/^charged \d+ QU/);
  for (let run = 1; run <= RUNS_MAX; run += 1) {
    await page.getByRole('button', { name: 'Run' }).click();
    const isOver = charged.or(result.getByRole('alert')).first();
    await isOver.waitFor({ timeout: 120_000 }).catch(() => undefined);
    if (await charged.isVisible()) return;
  }
  throw new Error(`no run ended with a charge: ${await page.getByRole('main').textContent()}`);
}

/** Units that are left, as the header of the console says it. */
async function balanceOf(page: Page): Promise<number> {
  const text = await page.getByRole('button', { name: /[\d,]+ QU$/ }).textContent();
  return Number(/([\d,]+) QU$/.exec(text ?? '')?.[1]?.replaceAll(',', ''));
}
