import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCS_PAGES } from '../../../src/docs-site/pages.ts';
import { browserIsThere, openPage, seriousFindings, startBrowser } from '../../kit/browser.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';
import { keepPicture } from '../../kit/pictures.ts';

/** The documentation in a real browser, as the real application serves it. */

const NARROW = { width: 390, height: 844 };

describe.skipIf(!browserIsThere())('the documentation', () => {
  let api: OwnApi;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    [api, browser] = await Promise.all([ownApi(), startBrowser()]);
    origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  test.each(['light', 'dark'] as const)(
    'is legible and usable by assistive technology, %s',
    async (theme) => {
      const { page, problems, close } = await openPage(browser, origin, { theme });
      for (const path of ['/docs', '/docs/payments', '/docs/cookbook', '/docs/sql', '/plans']) {
        await page.goto(path);
        await keepPicture(page, `${path.replaceAll('/', '-').slice(1)}-${theme}`);
        expect([path, await seriousFindings(page)]).toEqual([path, []]);
      }
      expect(problems()).toEqual([]);
      await close();
    },
  );

  test.each([390, 768, 1_440])('fits a window of %i pixels, every page of it', async (width) => {
    const { page, problems, close } = await openPage(browser, origin, { width, height: 844 });
    for (const { slug } of DOCS_PAGES) {
      await page.goto(`/docs/${slug}`);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([slug, overflow]).toEqual([slug, 0]);
    }
    expect(problems()).toEqual([]);
    await close();
  });

  test('hides no column of a table on a wide screen', async () => {
    const { page, problems, close } = await openPage(browser, origin, { width: 1_440, height: 844 });
    const hidden: unknown[] = [];
    for (const path of [...DOCS_PAGES.map(({ slug }) => `/docs/${slug}`), '/plans']) {
      await page.goto(path);
      const names = await page.evaluate(`[...document.querySelectorAll('article .table')]
        .filter((table) => table.closest('.result') === null)
        .flatMap((table) => [...table.querySelectorAll('th')]
          .filter((th) => th.getBoundingClientRect().right > table.getBoundingClientRect().right + 1)
          .map((th) => th.textContent))`);
      if (Array.isArray(names) && names.length > 0) hidden.push([path, names]);
    }
    expect(hidden).toEqual([]);
    expect(problems()).toEqual([]);
    await close();
  });

  test('shows every cell of its tables on a telephone, but for results', async () => {
    const { page, problems, close } = await openPage(browser, origin, NARROW);
    const hidden: unknown[] = [];
    for (const path of [...DOCS_PAGES.map(({ slug }) => `/docs/${slug}`), '/plans']) {
      await page.goto(path);
      const cells = await page.evaluate(`[...document.querySelectorAll('article .table')]
        .filter((table) => table.closest('.result') === null)
        .flatMap((table) => [...table.querySelectorAll('td')]
          .filter((td) => td.getBoundingClientRect().right > table.getBoundingClientRect().right + 1)
          .map((td) => td.textContent))`);
      if (Array.isArray(cells) && cells.length > 0) hidden.push([path, cells.slice(0, 3)]);
    }
    expect(hidden).toEqual([]);
    expect(problems()).toEqual([]);
    await close();
  });

  test('names the column of each cell where rows become entries', async () => {
    const { page, close } = await openPage(browser, origin, NARROW);
    await page.goto('/docs/configuration');
    const cell = page.locator('.stacks td', { hasText: /^HOST$/ });
    const labelOf = (shown: typeof cell) => shown.evaluate((td) => getComputedStyle(td, '::before').content);
    expect(await labelOf(cell)).toBe('"environment "');
    // Next to the name of an entry there is nothing to distinguish.
    await page.goto('/docs/sql-answers');
    expect(
      await labelOf(page.locator('.stacks td', { hasText: 'The engine did not estimate in time.' })),
    ).toBe('none');
    await close();
  });

  test('shows the current page in the navigation, however far down it is', async () => {
    const { page, problems, close } = await openPage(browser, origin, { width: 1_440, height: 844 });
    await page.goto('/docs/design-scale');
    const link = page.locator('#pages [aria-current="page"]');
    await expect.poll(async () => (await link.boundingBox())?.y).toBeLessThan(844);
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(problems()).toEqual([]);
    await close();
  });

  test('has its navigation behind a button on a telephone', async () => {
    const { page, problems, close } = await openPage(browser, origin, NARROW);
    await page.goto('/docs');
    await page.getByRole('button', { name: 'Pages' }).click();
    await page
      .getByRole('navigation', { name: 'Documentation' })
      .getByRole('link', { name: 'Errors' })
      .click();
    await page.waitForURL('**/docs/errors');
    expect(problems()).toEqual([]);
    await close();
  });

  test.each([
    [390, 'light'],
    [768, 'dark'],
    [1_440, 'light'],
    [1_440, 'dark'],
  ] as const)('is searched from the keyboard alone, %i pixels wide, %s', async (width, theme) => {
    const { page, problems, close } = await openPage(browser, origin, { width, theme });
    await page.goto('/docs');
    await page.keyboard.press('/');
    // At once: each letter would be a search, and the last one may come after the arrow.
    await page.keyboard.insertText('refunds');
    const first = page.locator('#results a').first();
    await first.waitFor();
    expect(await first.getAttribute('href')).toBe('/docs/payments#refunds');
    expect(await first.locator('mark').first().textContent()).toBe('Refunds');
    expect(await seriousFindings(page)).toEqual([]);
    const list = await page.locator('#results').boundingBox();
    expect((list?.x ?? 0) + (list?.width ?? width + 1)).toBeLessThanOrEqual(width);
    await keepPicture(page, `docs-search-${width}-${theme}`);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/payments#refunds');
    expect(problems()).toEqual([]);
    await close();
  });

  test('keeps the colours that were chosen, under the name that the console uses', async () => {
    const { page, close } = await openPage(browser, origin);
    await page.goto('/docs/sql');
    await page.getByLabel('Colours').selectOption('dark');
    expect(await page.evaluate('localStorage.getItem("six.theme")')).toBe('dark');
    await page.goto('/docs/errors');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await close();
  });

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1_440, 'light'],
    [1_440, 'dark'],
  ] as const)('shows an operation with a request to copy, %i pixels wide, %s', async (width, theme) => {
    const { page, problems, close } = await openPage(browser, origin, { width, height: 900, theme });
    await page.goto('/docs/operations/listMerchants');
    const shown = page.locator('.languages .code:visible');
    expect(await shown.count()).toBe(1);
    expect(await shown.textContent()).toContain(`${origin}/v0/merchants`);
    await page.getByRole('button', { name: 'Python' }).click();
    expect(await shown.textContent()).toContain('from urllib.request import');
    for (const button of await page.getByRole('button', { name: 'Copy this code' }).all()) {
      const block = button.locator('xpath=..');
      if (!(await block.isVisible())) continue;
      // Seen without a hover, and large enough for a finger.
      expect(await button.evaluate((node) => getComputedStyle(node).opacity)).toBe('1');
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(24);
    }
    await keepPicture(page, `docs-operation-${width}-${theme}`);
    expect(await seriousFindings(page)).toEqual([]);
    expect(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    ).toBe(0);
    // Chosen for every page.
    await page.goto('/docs/operations/getAccount');
    expect(await shown.textContent()).toContain('urlopen');
    expect(problems()).toEqual([]);
    await close();
  });

  test('copies a block as it is written', async () => {
    const { page, close } = await openPage(browser, origin);
    await page.goto('/docs/quickstart');
    await page.getByRole('button', { name: 'Copy this code' }).first().click();
    await page.getByText('Copied').waitFor();
    // The address of the deployment stands where the page was written with a placeholder.
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`curl -s "${origin}/v0/telemetry"`);
    await close();
  });
});
