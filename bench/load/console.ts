import type { Browser, Page } from 'playwright-core';
import { browserIsThere, openPage, startBrowser } from '../../test/kit/browser.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { Stage } from './stage.ts';

/**
 * What a visitor waits for in the console, in a real Chromium: how long the first load keeps the page from answering, and how long an
 * interaction takes with ten thousand rows. Source: Total Blocking Time and Interaction to Next Paint, web.dev.
 */

const ROUNDS = 5;
const ROUNDS_QUICK = 2;
const BLOCKING_GOAL_MS = 200;
const INTERACTION_GOAL_MS = 100;
/** Of a task longer than this, the rest counts as blocking. */
const LONG_TASK_MS = 50;
/** For work that a page begins after its answers are there. */
const SETTLE_MS = 500;
const ROWS = 10_000;
const QUERY = `SELECT number, toString(number % 97) AS shop, cityHash64(number) AS hash, number / 7 AS share, toDate('2026-01-01') + number % 300 AS day, toString(sipHash64(number)) AS note FROM numbers(${ROWS})`;

/** Collects long tasks and slow events from the first moment of a page. */
const OBSERVE = `
  window.benchTasks = []; window.benchEvents = [];
  new PerformanceObserver((list) => benchTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => benchEvents.push(...list.getEntries().filter(({ interactionId }) => interactionId).map(({ duration }) => duration))).observe({ type: 'event', durationThreshold: 16, buffered: true });`;

export async function measureConsole(context: BenchContext, { url }: Stage): Promise<Figure[]> {
  if (!browserIsThere()) throw new Error('this part needs a Chromium: apt-get install chromium');
  const browser = await startBrowser();
  context.workspace.defer(() => browser.close());
  return [
    ...(await measureFirstLoad(context, browser, { url, path: '/console', ready: 'h1' })),
    ...(await measureFirstLoad(context, browser, { url, path: '/console/sql', ready: '.cm-line' })),
    await measureInteraction(context, browser, url),
  ];
}

interface FirstLoad {
  readonly url: string;
  readonly path: string;
  /** A selector of what shows that the page is there. */
  readonly ready: string;
}

async function measureFirstLoad(
  { quick, say }: BenchContext,
  browser: Browser,
  { url, path, ready }: FirstLoad,
): Promise<Figure[]> {
  const blocking: number[] = [];
  const longest: number[] = [];
  for (let round = 0; round < (quick ? ROUNDS_QUICK : ROUNDS); round++) {
    // A visitor of its own: nothing is in its cache.
    const { page, close } = await openPage(browser, url);
    await page.addInitScript(OBSERVE);
    await page.goto(path);
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(SETTLE_MS);
    const tasks = (await page.evaluate('benchTasks')) as number[]; // as observed above
    blocking.push(tasks.reduce((sum, ms) => sum + ms - LONG_TASK_MS, 0));
    longest.push(Math.max(0, ...tasks));
    await close();
  }
  const name = path === '/console' ? 'home' : 'sql';
  const value = median(blocking);
  say(`${path}: blocked for ${value.toFixed(0)} ms, longest task ${median(longest).toFixed(0)} ms`);
  return [
    {
      name: `console-${name}-blocking`,
      value,
      unit: 'ms',
      goal: `<=${BLOCKING_GOAL_MS}`,
      ok: value <= BLOCKING_GOAL_MS,
    },
    { name: `console-${name}-longest-task`, value: median(longest), unit: 'ms', goal: '-', ok: true },
  ];
}

/** The slowest of the interactions with the rows of a result: sorting, filtering, moving by keys. */
async function measureInteraction({ say }: BenchContext, browser: Browser, url: string): Promise<Figure> {
  const { page, close } = await openPage(browser, url);
  await page.addInitScript(OBSERVE);
  await page.goto(`/console/sql#${new URLSearchParams({ q: QUERY })}`);
  await page.locator('.cm-line').first().waitFor();
  await page.getByRole('button', { name: 'Run' }).click();
  const grid = page.getByRole('grid', { name: 'Result' });
  await grid.waitFor();
  await page.evaluate('benchEvents.length = 0');
  await useGrid(page);
  const events = (await page.evaluate('benchEvents')) as number[]; // as observed above
  await close();
  const value = Math.max(0, ...events);
  say(`with ${ROWS} rows the slowest of the interactions took ${value.toFixed(0)} ms`);
  return {
    name: 'console-10k-rows-interaction',
    value,
    unit: 'ms',
    goal: `<=${INTERACTION_GOAL_MS}`,
    ok: value <= INTERACTION_GOAL_MS,
  };
}

async function useGrid(page: Page): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Result' });
  for (const name of ['number', 'hash', 'note']) {
    await grid.getByRole('button', { name: new RegExp(`^${name} `) }).click();
    await page.waitForTimeout(SETTLE_MS);
  }
  await grid.focus();
  for (const key of ['ArrowDown', 'PageDown', 'Control+End', 'Control+Home', 'ArrowRight', 'End']) {
    await page.keyboard.press(key);
    await page.waitForTimeout(SETTLE_MS / 5);
  }
  await page.getByLabel('Filter rows').click();
  await page.keyboard.type('7 4', { delay: 80 });
  await page.waitForTimeout(SETTLE_MS);
}
