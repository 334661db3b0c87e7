import type { Browser } from 'playwright-core';
import { browserIsThere, openPage, startBrowser } from '../../test/kit/browser.ts';
import { type Figure, inTurn, judged, median, shown } from '../lab/measure.ts';
import type { BenchContext } from '../lab/run.ts';
import type { Stage } from './stage.ts';

/**
 * What a visitor waits for in the console, in a real Chromium: how long the first load keeps the page from answering, and how long an
 * interaction takes with ten thousand rows. Source: Total Blocking Time and Interaction to Next Paint, web.dev.
 */

/** With a selector of what shows that the page is there. */
const PAGES = [
  { name: 'home', path: '/console', ready: 'h1' },
  { name: 'sql', path: '/console/sql', ready: '.cm-line' },
] as const;
const ROUNDS = { full: 5, quick: 2 };
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
  const figures: Figure[] = [];
  for (const { name, path, ready } of PAGES) {
    const load = () => loadOnce(browser, url + path, ready);
    const { tasks } = await inTurn({ tasks: load }, { rounds: context.sized(ROUNDS) });
    const blocking = median(tasks.map((some) => some.reduce((sum, ms) => sum + ms - LONG_TASK_MS, 0)));
    figures.push(
      judged(`console-${name}-blocking`, blocking, 'ms', '<=', BLOCKING_GOAL_MS),
      shown(`console-${name}-longest-task`, median(tasks.map((some) => Math.max(0, ...some))), 'ms'),
    );
  }
  const slowest = await measureInteraction(browser, url);
  return [...figures, judged('console-10k-rows-interaction', slowest, 'ms', '<=', INTERACTION_GOAL_MS)];
}

/** The long tasks of a visitor of its own: nothing is in its cache. */
async function loadOnce(browser: Browser, url: string, ready: string): Promise<number[]> {
  const { page, close } = await openPage(browser, url);
  await page.addInitScript(OBSERVE);
  await page.goto(url);
  await page.locator(ready).first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(SETTLE_MS);
  const tasks = (await page.evaluate('benchTasks')) as number[]; // as observed above
  await close();
  return tasks;
}

/** The slowest of the interactions with the rows of a result: sorting, filtering, moving by keys. */
async function measureInteraction(browser: Browser, url: string): Promise<number> {
  const { page, close } = await openPage(browser, url);
  await page.addInitScript(OBSERVE);
  await page.goto(`/console/sql#${new URLSearchParams({ q: QUERY })}`);
  await page.locator('.cm-line').first().waitFor();
  await page.getByRole('button', { name: 'Run' }).click();
  const grid = page.getByRole('grid', { name: 'Result' });
  await grid.waitFor();
  await page.evaluate('benchEvents.length = 0');
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
  const events = (await page.evaluate('benchEvents')) as number[]; // as observed above
  await close();
  return Math.max(0, ...events);
}
