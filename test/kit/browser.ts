import { spawnSync } from 'node:child_process';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** A real Chromium, and pages that remember what went wrong in them. */

/** Debian’s. */
const CHROMIUM = '/usr/bin/chromium';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let told = false;

/**
 * Whether tests can start a browser. Without one they are skipped, with one line that says what to install; where
 * `CI_REQUIRE_BROWSER=1` says that there must be one, their file fails. For `describe.skipIf(!browserIsThere())`.
 */
export function browserIsThere(): boolean {
  if (spawnSync(CHROMIUM, ['--version']).status === 0) return true;
  if (process.env['CI_REQUIRE_BROWSER'] === '1') {
    throw new Error(`there is no ${CHROMIUM}, and CI_REQUIRE_BROWSER=1 requires it`);
  }
  if (!told) {
    process.stderr.write(
      `\nSKIPPED: tests of the console, because there is no ${CHROMIUM}. Install it: apt-get install --no-install-recommends chromium\n\n`,
    );
  }
  told = true;
  return false;
}

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

export interface PageOptions {
  /** The visitor’s own, as if it was entered; without one the page has the lent key. */
  readonly key?: string;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /**
   * What went wrong since the last look: errors and warnings on the console (violations of the page’s policy among them), exceptions,
   * and requests to anybody but `origin`. Refused answers of the API (402, 400, and 503 of one that is busy) are how it works, and are left out.
   */
  problems(): string[];
  close(): Promise<void>;
}

/** For anything on a page to appear, also on a busy machine. */
const WAIT_MS = 60_000;
const WIDTH = 1_360;
const HEIGHT = 860;

/** A visitor of its own: storage, theme and window belong to this visitor alone. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: PageOptions = {},
): Promise<WatchedPage> {
  const { theme = 'light', width = WIDTH, height = HEIGHT } = options;
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    permissions: ['clipboard-read', 'clipboard-write'],
    acceptDownloads: true,
    baseURL: origin,
  });
  context.setDefaultTimeout(WAIT_MS);
  if (options.key !== undefined)
    await context.addInitScript(`sessionStorage.setItem('six.key', '${options.key}')`);
  const page = await context.newPage();
  const seen: string[] = [];
  page.on('console', (message) => {
    const isApiAnswer = /^Failed to load resource: the server responded with a status of (4|503)/.test(
      message.text(),
    );
    if (['error', 'warning'].includes(message.type()) && !isApiAnswer)
      seen.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => seen.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(`${origin}/`) || /^(data|blob):/.test(request.url());
    if (!isOurs) seen.push(`request to another host: ${request.url()}`);
  });
  return { page, context, problems: () => seen.splice(0), close: () => context.close() };
}

/** What axe finds serious or critical on the page as it is now; `[]` is what every page must give. Source: WCAG 2.2 A and AA. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Through the debugger: the policy of the page allows no foreign script in it. Once for each document, because it is half a megabyte.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  const findings: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 5).map(({ target, failureSummary }) => target.join(' ') + ' ' + failureSummary).join(' | ')))`,
  );
  return findings as string[]; // what the expression above gives
}

/** Opens the figures of a chart as a table, and counts them. */
export async function rowsOfChart(page: Page, name: string): Promise<number> {
  const chart = page
    .getByRole('figure')
    .filter({ has: page.locator('figcaption').getByText(name, { exact: true }) });
  await chart.getByText('As a table').click();
  const rows = chart.locator('tbody tr');
  await rows.first().waitFor();
  return await rows.count();
}
