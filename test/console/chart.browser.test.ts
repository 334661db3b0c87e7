import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserIsThere, openPage, seriousFindings, type WatchedPage } from '../kit/browser.ts';
import { type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { keepPicture } from '../kit/pictures.ts';

/** Charts of results of the real engine, on the SQL page. */

const FACILITATORS = ['Coinbase', 'PayAI', 'thirdweb'];
const BY_FACILITATOR = `SELECT toDate('2026-11-01') + number % 7 AS day, ['coinbase', 'payAI', 'thirdweb'][number % 3 + 1] AS facilitator,
  count() AS payments, sum(toDecimal64(number, 6)) AS usd
FROM numbers(210) GROUP BY day, facilitator ORDER BY day`;

describe.skipIf(!browserIsThere())('charts of the SQL page', () => {
  let world: ConsoleWorld;
  let visitor: WatchedPage;

  beforeAll(async () => {
    world = await openConsole({ seed: () => Promise.resolve() });
  });
  afterAll(() => world?.close());
  afterEach(async () => {
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  const picture = (name: RegExp) => visitor.page.getByRole('img', { name });

  async function runAndDraw(): Promise<void> {
    const { page } = visitor;
    await page.getByRole('textbox', { name: 'SQL query' }).locator('.cm-line').first().waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByRole('gridcell').first().waitFor();
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.locator('.chart-canvas canvas').waitFor();
  }

  it('a result by day and facilitator is one line for each facilitator, and the link remembers another choice', async () => {
    visitor = await openPage(world.browser, world.origin);
    const { page } = visitor;
    await page.goto(`/console/sql#${new URLSearchParams({ q: BY_FACILITATOR }).toString()}`);
    await runAndDraw();
    await picture(/^Line chart of usd by facilitator along day, 7 points: /).waitFor();
    const series = await page.getByRole('list', { name: 'Series' }).getByRole('button').allTextContents();
    expect(series.toSorted()).toEqual(FACILITATORS);
    expect(await seriousFindings(page)).toEqual([]);
    await keepPicture(page, 'chart-facilitators');
    await page.getByRole('combobox', { name: 'Chart', exact: true }).selectOption({ label: 'Stacked areas' });
    await page.getByRole('combobox', { name: 'Show', exact: true }).selectOption('payments');
    await picture(/^Stacked area chart of payments by facilitator/).waitFor();
    // With both choices: the address follows each.
    await page.waitForURL(/chart=.*payments/);
    await page.reload();
    await runAndDraw();
    await picture(/^Stacked area chart of payments by facilitator/).waitFor();
  });
});
