import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { browserIsThere, openPage, seriousFindings, type WatchedPage } from '../kit/browser.ts';
import { differenceFrom } from '../kit/kept-pictures.ts';
import { openParts, type PartsWorld } from '../kit/parts/parts-world.ts';
import { keepPicture } from '../kit/pictures.ts';
import { waitUntil } from '../kit/wait-until.ts';

/** The components of the design system in a real browser, each in its states. */

const KEPT = new URL('../fixtures/parts/', import.meta.url);
const WIDTHS = [390, 768, 1_440] as const;
const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
/** Those whose pictures are kept: parts, and states of them. Charts are drawn on a canvas and have tests of their own below. */
const KEPT_PARTS = {
  colours: '[data-part="Colours"]',
  chip: '[data-part="Chip"]',
  money: '[data-part="Money"]',
  sparkline: '[data-part="Sparkline"]',
  stat: '[data-part="Stat"]',
  'table-stacked': '[data-state="In a column, where cells are stacked"]',
  'table-cards': '[data-state="In a narrow column, where rows are cards"]',
  'table-loading': '[data-state="Loading"]',
  'empty-state': '[data-part="EmptyState"]',
  skeleton: '[data-part="Skeleton"]',
};
const KEPT_WIDTH = 1_024;
const FACILITATORS = ['Coinbase', 'PayAI', 'thirdweb', 'x402.rs', 'no name'];

/** The browser shares two cores with the engines of other tests, and axe looks at every cell. */
const PATIENCE_MS = 300_000;

describe.skipIf(!browserIsThere())('the parts of the console', { timeout: PATIENCE_MS }, () => {
  let world: PartsWorld;
  let pages: Readonly<Record<Theme, WatchedPage>>;
  /** The light one. It is opened once, because the page has every part in every state: each test begins with `show`. */
  let page: Page;

  beforeAll(async () => {
    world = await openParts();
    const open = async (theme: Theme): Promise<WatchedPage> => {
      const watched = await openPage(world.browser, world.origin, { theme });
      await watched.page.goto('/console/parts');
      await watched.page.locator('.chart-canvas canvas').first().waitFor();
      return watched;
    };
    pages = { light: await open('light'), dark: await open('dark') };
    page = pages.light.page;
  }, PATIENCE_MS);
  afterAll(() => world?.close());
  afterEach(() => {
    expect([pages.light.problems(), pages.dark.problems()]).toEqual([[], []]);
  });

  const show = (width: number, height = 900): Promise<void> => page.setViewportSize({ width, height });
  const part = (name: string) => page.locator(`[data-part="${name}"]`);

  test.each(THEMES)(
    'nothing is too wide, and axe finds nothing serious, at three widths: %s',
    async (theme) => {
      const { page: shown } = pages[theme];
      for (const width of WIDTHS) {
        await shown.setViewportSize({ width, height: 900 });
        const overflow = await shown.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `at ${width}`).toBeLessThanOrEqual(0);
        expect(await seriousFindings(shown), `at ${width}`).toEqual([]);
        await keepPicture(shown, `parts-${theme}-${width}`);
      }
    },
  );

  test.each(THEMES)('every part looks as its kept picture: %s', async (theme) => {
    const { page: shown } = pages[theme];
    await shown.setViewportSize({ width: KEPT_WIDTH, height: 900 });
    const differences: string[] = [];
    for (const [name, selector] of Object.entries(KEPT_PARTS)) {
      const difference = await differenceFrom(new URL(`${name}-${theme}.png`, KEPT), shown.locator(selector));
      if (difference !== null) differences.push(`${name}: ${difference}`);
    }
    expect(differences).toEqual([]);
  });

  test('a table keeps every value at every width: next to its name, stacked, or on a card', async () => {
    await show(1_440);
    const table = page.getByRole('region', { name: 'Sellers', exact: true });
    const VALUES = ['0x40…0001', 'Base', '$34,127.48', '120,433', '+12%', 'clean'];
    for (const width of [1_440, 900, 700, 390]) {
      await show(width);
      const row = table.getByRole('row').filter({ hasText: 'Weather desk' });
      // A phone has two lines for each row, and the rest behind its button.
      if (width === 390) await row.getByRole('button', { name: 'Show more of this row' }).click();
      for (const value of VALUES) await row.getByText(value).first().waitFor();
      await row.getByRole('img', { name: /^Settled per day/ }).waitFor();
      const tooWide = await page.evaluate(
        `(() => { const frame = ${SELLERS}; return frame.querySelector('table').offsetWidth > frame.clientWidth; })()`,
      );
      expect(tooWide, `at ${width}`).toBe(false);
    }
    expect(await table.locator('.data.is-cards').count()).toBe(1);
    await show(1_440);
    await table.getByRole('columnheader', { name: 'Chain' }).waitFor();
  });

  test('a narrow table is made of cards when it is first drawn, as it is after a change of the width', async () => {
    const narrow = page.getByRole('region', { name: 'Sellers as cards' }).locator('table');
    const isCards = async (): Promise<boolean> =>
      (await narrow.getAttribute('class'))?.includes('is-cards') === true;
    await show(KEPT_WIDTH);
    await page.reload();
    await page.locator('.chart-canvas canvas').first().waitFor();
    expect(await isCards()).toBe(true);
    await show(390);
    await show(KEPT_WIDTH);
    expect(await isCards()).toBe(true);
  });

  test('a header sorts the rows, figures largest first; cards have a field for it', async () => {
    await show(1_440);
    const table = page.getByRole('region', { name: 'Sellers', exact: true });
    const first = () => table.locator('tbody tr').first().textContent();
    await table.getByRole('button', { name: 'Settled' }).click();
    expect(await first()).toContain('Weather desk');
    await table.getByRole('button', { name: 'Settled' }).click();
    expect(await first()).toContain('Maps');
    expect(await table.getByRole('columnheader', { name: 'Settled' }).getAttribute('aria-sort')).toBe(
      'ascending',
    );
    await show(390);
    await table.getByLabel('Sort by').selectOption('Seller');
    expect(await first()).toContain('Maps');
  });

  test('the header of a table stays in view while its rows scroll', async () => {
    await show(1_440, 500);
    await page.evaluate(
      `scrollTo(0, ${SELLERS}.querySelector('tbody tr').getBoundingClientRect().top + scrollY)`,
    );
    const top = await page.evaluate(`${SELLERS}.querySelector('thead th').getBoundingClientRect().top`);
    expect(Math.abs(Number(top))).toBeLessThan(1);
  });

  test('a copy has every digit, and the page is as it was', async () => {
    await show(1_440);
    await page.evaluate(`(() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('[data-part="Money"] .row'));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    })()`);
    await page.keyboard.press('Control+c');
    const copied = async (): Promise<string> => String(await page.evaluate('navigator.clipboard.readText()'));
    await waitUntil('the text is copied', async () => (await copied()).includes('$1,284.029999'));
    expect(await copied()).toContain('$34,127,483.27');
    await waitUntil('the page shows the short amounts', async () =>
      ((await part('Money').textContent()) ?? '').includes('$1,284.03'),
    );
    expect(await part('Money').getByText('$0.1235').getAttribute('title')).toBe('$0.123456');
  });

  describe('charts', () => {
    const guessed = () => part('Chart').locator('.chart').first();
    const series = () => guessed().getByRole('list', { name: 'Series' }).getByRole('button');
    const svgOf = async (): Promise<string> => (await downloaded('SVG')).toString();

    async function downloaded(name: string): Promise<Buffer> {
      const coming = page.waitForEvent('download');
      await guessed().getByRole('button', { name }).click();
      return readFileSync(await (await coming).path());
    }

    async function hover(): Promise<void> {
      await guessed().locator('canvas').scrollIntoViewIfNeeded();
      const box = await guessed().locator('canvas').boundingBox();
      if (box === null) throw new Error('the chart has no canvas');
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 3);
      await guessed().locator('.chart-hover').waitFor();
    }

    test('day and facilitator are drawn as one line for each facilitator, in its colour', async () => {
      await show(1_440);
      await guessed()
        .getByRole('img', { name: /^Line chart of usd by facilitator along day, 30 points/ })
        .waitFor();
      expect(await series().allTextContents()).toEqual(FACILITATORS);
      const svg = await svgOf();
      const strokes = [...svg.matchAll(/fill="none" stroke="([^"]+)"/g)].map(([, colour]) => colour);
      expect([strokes.length, new Set(strokes).size]).toEqual([FACILITATORS.length, FACILITATORS.length]);
      const inks = await page.evaluate(INKS);
      for (const stroke of strokes) expect(inks).toContain(stroke);
    });

    test('every kind is drawn, and a series can be hidden', async () => {
      await show(1_440);
      const marks: Record<string, RegExp> = {
        'Stacked areas': /fill-opacity="0.78"/g,
        Bars: /fill-opacity="1"/g,
        Areas: /fill-opacity="0.22"/g,
      };
      for (const [kind, mark] of Object.entries(marks)) {
        await guessed().getByRole('combobox', { name: 'Chart', exact: true }).selectOption({ label: kind });
        await waitUntil(
          `${kind} are drawn`,
          async () => [...(await svgOf()).matchAll(mark)].length === FACILITATORS.length,
        );
      }
      await guessed()
        .getByRole('combobox', { name: 'Chart', exact: true })
        .selectOption({ label: 'Heatmap' });
      await guessed()
        .getByRole('img', { name: /^Heatmap of usd by facilitator/ })
        .waitFor();
      await waitUntil(
        'every cell is drawn',
        async () => [...(await svgOf()).matchAll(/<path d="M[\d. ]+h/g)].length === 30 * FACILITATORS.length,
      );
      await guessed().getByRole('combobox', { name: 'Chart', exact: true }).selectOption({ label: 'Lines' });
      await series().first().click();
      await guessed()
        .getByRole('img', { name: /points: PayAI/ })
        .waitFor();
      await series().first().click();
    });

    test('a logarithmic axis has decades, and a second axis its own labels', async () => {
      await show(1_440);
      await guessed().getByLabel('Logarithmic').check();
      await waitUntil('the axis has decades', async () =>
        /text-anchor="end"[^>]*>\$100</.test(await svgOf()),
      );
      await guessed().getByLabel('Logarithmic').uncheck();
      const two = page.locator('[data-chart="Two axes"]');
      const coming = page.waitForEvent('download');
      await two.getByRole('button', { name: 'SVG' }).click();
      const svg = readFileSync(await (await coming).path()).toString();
      expect(svg).toMatch(/text-anchor="start"[^>]*>\$10</);
      expect(svg).toMatch(/text-anchor="end"[^>]*>100k</);
    });

    test('the figures under the pointer are in a table, largest first, with every digit', async () => {
      await show(1_440);
      await hover();
      const rows = guessed().locator('.chart-hover tr');
      expect(await rows.count()).toBe(FACILITATORS.length);
      const figures = (await rows.locator('td').allTextContents()).map((text) =>
        Number(text.replace('$', '').replaceAll(',', '')),
      );
      expect(figures).toEqual([...figures].sort((a, b) => b - a));
      expect(await rows.first().locator('td').textContent()).toMatch(/^\$\d{1,3}(,\d{3})*\.\d{2,6}$/);
      expect(await guessed().locator('.chart-hover-title').textContent()).toMatch(/^\d+ Nov 2026( so far)?$/);
      await page.mouse.move(1, 1);
      await guessed().locator('.chart-hover').waitFor({ state: 'detached' });
    });

    test('names stand at the ends of their lines where they fit, and are a legend below where they do not', async () => {
      await show(1_440);
      const legend = guessed().getByRole('list', { name: 'Series' });
      const isDirect = async (): Promise<boolean> =>
        ((await legend.getAttribute('class')) ?? '').includes('is-direct');
      await waitUntil('the names stand at the lines', isDirect);
      const boxes = await Promise.all((await series().all()).map((one) => one.boundingBox()));
      const tops = boxes.map((box) => box?.y ?? 0).toSorted((a, b) => a - b);
      const gaps = tops.slice(1).map((top, at) => top - (tops[at] ?? 0));
      expect(gaps.every((gap) => gap > 18)).toBe(true);
      expect(await svgOf()).toContain('>Coinbase</text>');
      await show(390);
      await waitUntil('the names are a legend', async () => !(await isDirect()));
    });

    test('a drag along the axis shows that range; a double click, Escape and a button show all, and keys zoom too', async () => {
      await show(1_440);
      const points = (count: number) =>
        guessed().getByRole('img', { name: new RegExp(`along day, ${count} points`) });
      const part = () => guessed().getByRole('button', { name: /Show all$/ });
      await points(30).waitFor();
      await guessed().locator('.u-over').scrollIntoViewIfNeeded();
      const drag = async (): Promise<void> => {
        const box = await guessed().locator('.u-over').boundingBox();
        if (box === null) throw new Error('the chart has no plot');
        await page.mouse.move(box.x + box.width * 0.25, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
        await page.mouse.up();
      };
      await drag();
      expect(await part().textContent()).toBe('5 Nov 2026 to 11 Nov 2026 · Show all');
      await points(7).waitFor();
      await guessed().locator('.u-over').dblclick();
      await points(30).waitFor();
      await drag();
      await part().click();
      await points(30).waitFor();
      const range = guessed().getByRole('group', { name: /^Range of the chart/ });
      await range.focus();
      await page.keyboard.press('+');
      await points(15).waitFor();
      await page.keyboard.press('ArrowRight');
      await points(15).waitFor();
      await page.keyboard.press('Escape');
      await points(30).waitFor();
      expect(await part().count()).toBe(0);
    });

    test('a chart is saved as a PNG of twice its size', async () => {
      await show(1_440);
      const png = await downloaded('PNG');
      const box = await guessed().locator('canvas').boundingBox();
      expect(png.subarray(1, 4).toString()).toBe('PNG');
      expect(png.readUInt32BE(16)).toBe(2 * Math.round(box?.width ?? 0));
    });

    test('50 series of 1,000 points are drawn', async () => {
      await show(1_440);
      await page.getByRole('button', { name: 'Draw 50 series of 1,000 points' }).click();
      const chart = page.locator('[data-chart="50 series"]');
      await chart.locator('canvas').waitFor();
      expect(await chart.getByRole('list', { name: 'Series' }).getByRole('button').count()).toBe(50);
    });
  });
});

/** The first table, as an expression of the page. */
const SELLERS = `document.querySelector('section[aria-label="Sellers"]')`;

/** The colours on the canvas of the first chart, as CSS writes them; only colours of many pixels, which smoothing does not make. */
const INKS = `(() => {
  const canvas = document.querySelector('[data-part="Chart"] canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] === 255) {
      const colour = 'rgb(' + data[at] + ', ' + data[at + 1] + ', ' + data[at + 2] + ')';
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  return [...counts].filter(([, count]) => count > 20).map(([colour]) => colour);
})()`;
