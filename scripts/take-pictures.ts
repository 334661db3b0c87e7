import { readFileSync, writeFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/**
 * Takes the pictures of docs/console.md from a running demo, each in light and dark colours:
 *
 *     npm run demo                                               # in one terminal
 *     npx tsx scripts/take-pictures.ts http://127.0.0.1:8402     # in another, once the sample data is written
 *
 * Chromium is Debian's, as in the tests of the console.
 */

const CHROMIUM = '/usr/bin/chromium';
const WINDOW = { width: 1_280, height: 800 } as const;
const WEBP_QUALITY = 82;
const READY_MAX_MS = 60_000;
/** For charts and pictures that move to their places. */
const SETTLE_MS = 2_500;

/** Weather Now, the busiest seller of the demo. */
const SELLER = '0x4b690d38773522a360b59c42cfd2128d0049b675';
const QUERY = `SELECT toDate(block_time) AS day, ifNull(facilitator_name, 'unknown') AS facilitator, count() AS settlements
FROM settlements
WHERE block_time >= now() - INTERVAL 30 DAY
GROUP BY day, facilitator
ORDER BY day, settlements DESC`;

interface Picture {
  /** Of the file: docs/images/console-{name}.webp. */
  readonly name: string;
  readonly path: string;
  /** What has to be done on the page before it is taken. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const PICTURES: readonly Picture[] = [
  { name: 'home', path: '/console' },
  {
    name: 'sql',
    path: `/console/sql#${new URLSearchParams({ q: QUERY })}`,
    prepare: async (page) => {
      await page.getByRole('button', { name: /^Run/ }).first().click();
      await page.getByText('2026-').first().waitFor();
      const chart = page.getByRole('tab', { name: 'Chart' }).or(page.getByRole('button', { name: 'Chart' }));
      if ((await chart.count()) > 0) await chart.first().click();
    },
  },
  { name: 'merchants', path: '/console/merchants' },
  { name: 'wallet', path: `/console/merchants/${SELLER}` },
  { name: 'status', path: '/console/status' },
];

async function main(): Promise<void> {
  const [origin = 'http://127.0.0.1:8402'] = process.argv.slice(2);
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  });
  try {
    for (const picture of PICTURES) {
      for (const theme of ['light', 'dark'] as const) await take(browser, { origin, picture, theme });
      show(picture);
    }
  } finally {
    await browser.close();
  }
}

async function take(
  browser: Browser,
  {
    origin,
    picture,
    theme,
  }: { readonly origin: string; readonly picture: Picture; readonly theme: 'light' | 'dark' },
): Promise<void> {
  const context = await browser.newContext({ colorScheme: theme, viewport: WINDOW, baseURL: origin });
  context.setDefaultTimeout(READY_MAX_MS);
  const page = await context.newPage();
  await page.goto(picture.path);
  await page.getByRole('heading').first().waitFor();
  await picture.prepare?.(page);
  await page.waitForTimeout(SETTLE_MS);
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: WEBP_QUALITY });
  const file = `docs/images/console-${picture.name}${theme === 'dark' ? '-dark' : ''}.webp`;
  writeFileSync(new URL(`../${file}`, import.meta.url), Buffer.from(data, 'base64'));
  console.log(`wrote ${file}`);
  await context.close();
}

const TOUR = new URL('../docs/console.md', import.meta.url);

/** Puts the picture below its mark in the tour, in the place of an older one. */
function show({ name }: Picture): void {
  const marked = new RegExp(`(<!-- picture:${name} (.+) -->\\n)(?:\\n!\\[.*\\n)?`);
  const page = readFileSync(TOUR, 'utf8');
  if (!marked.test(page)) throw new Error(`docs/console.md has no mark for ${name}`);
  writeFileSync(
    TOUR,
    page.replace(
      marked,
      (_all, mark: string, title: string) => `${mark}\n![${title}](images/console-${name}.webp)\n`,
    ),
  );
}

await main();
