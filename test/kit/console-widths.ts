import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFindings, type WatchedPage } from './browser.ts';

/** Every page must be usable at these. */
const WIDTHS = [
  { name: 'phone', width: 390, height: 844 },
  { name: 'tablet', width: 768, height: 1_024 },
  { name: 'desk', width: 1_440, height: 900 },
] as const;
const THEMES = ['light', 'dark'] as const;
/** What axe looks at: each width and each theme once or twice, because a look at a page of tables takes seconds. */
const JUDGED: ReadonlySet<string> = new Set(['tablet light', 'desk light', 'phone dark']);

/**
 * Looks at an open page at three widths in both themes: nothing overflows the window, axe has nothing serious to say about it, nothing went wrong in
 * the browser. With `CONSOLE_PICTURES=directory` it also saves what it sees as `<name>-<width>-<theme>.png`.
 */
export async function looksRight({ page, problems }: WatchedPage, name: string): Promise<void> {
  const directory = process.env['CONSOLE_PICTURES'];
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    for (const { name: width, ...size } of WIDTHS) {
      await resize(page, size);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow, `${name} ${width} ${theme}`).toBeLessThanOrEqual(0);
      if (directory !== undefined)
        await page.screenshot({ path: `${directory}/${name}-${width}-${theme}.png`, fullPage: true });
      if (JUDGED.has(`${width} ${theme}`))
        expect(await seriousFindings(page), `${name} ${width} ${theme}`).toEqual([]);
    }
  }
  expect(problems()).toEqual([]);
}

/** Tables choose their form in the frame after a resize, which this waits for. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** Rows that a list then has at most. */
export const FEW_ROWS = 12;

/** Every list is asked for fewer rows than the pages ask for: axe looks at every cell, and the twelfth row is like the fiftieth. */
export async function askForFewRows(page: Page): Promise<void> {
  await page.route(/\/v0\/.*limit=\d+/, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, `limit=${FEW_ROWS}`),
    }),
  );
}
