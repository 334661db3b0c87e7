import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOCS_PAGES } from '../../../src/docs-site/pages.ts';
import { browserIsThere, openPage, seriousFindings, startBrowser } from '../../kit/browser.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

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
      for (const path of ['/docs', '/docs/payments', '/plans']) {
        await page.goto(path);
        expect([path, await seriousFindings(page)]).toEqual([path, []]);
      }
      expect(problems()).toEqual([]);
      await close();
    },
  );

  test('fits a telephone, every page of it', async () => {
    const { page, problems, close } = await openPage(browser, origin, NARROW);
    for (const { slug } of DOCS_PAGES) {
      await page.goto(`/docs/${slug}`);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([slug, overflow]).toEqual([slug, 0]);
    }
    await page.getByRole('button', { name: 'Pages' }).click();
    await page
      .getByRole('navigation', { name: 'Documentation' })
      .getByRole('link', { name: 'Errors' })
      .click();
    await page.waitForURL('**/docs/errors');
    expect(problems()).toEqual([]);
    await close();
  });

  test('is searched from the keyboard alone', async () => {
    const { page, problems, close } = await openPage(browser, origin);
    await page.goto('/docs');
    await page.keyboard.press('/');
    // At once: each letter would be a search, and the last one may come after the arrow.
    await page.keyboard.insertText('levenshteinDistance');
    const first = page.locator('#results a').first();
    await first.waitFor();
    const found = await first.getAttribute('href');
    expect(found).toMatch(/^\/docs\/sql/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${found}`);
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

  test('copies a block as it is written', async () => {
    const { page, close } = await openPage(browser, origin);
    await page.goto('/docs/quickstart');
    await page.getByRole('button', { name: 'Copy this code' }).first().click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm ci && npm run demo');
    await close();
  });
});
