import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { browserIsThere, openPage, seriousFindings, type WatchedPage } from '../kit/browser.ts';
import { looksRight } from '../kit/console-widths.ts';
import { addManagerKey, type ConsoleWorld, openConsole } from '../kit/console-world.ts';
import { keepPicture } from '../kit/pictures.ts';

/** A result is shared from the SQL page, is read by a visitor without a key, and is revoked. */

const SQL = `-- Volume by day
SELECT toDate('2026-11-01') + number AS day, toDecimal64(number * 3 + 1, 6) AS usd FROM numbers(9) ORDER BY day`;

describe.skipIf(!browserIsThere())('a shared result', () => {
  let world: ConsoleWorld;
  let owner: WatchedPage;
  let visitor: WatchedPage;

  beforeAll(async () => {
    world = await openConsole({ runsJobs: true, seed: () => Promise.resolve() });
  });
  afterAll(() => world?.close());
  afterEach(async () => {
    await owner.close();
    await visitor.close();
  });

  it('opens without a key as chart, rows and folded query, says until when, and ends when it is revoked', async () => {
    const key = await addManagerKey(world);
    owner = await openPage(world.browser, world.origin, { key });
    await owner.page.goto(`/console/sql#${new URLSearchParams({ q: SQL }).toString()}`);
    await owner.page.getByRole('textbox', { name: 'SQL query' }).locator('.cm-line').first().waitFor();
    await owner.page.getByRole('button', { name: 'Run', exact: true }).click();
    await owner.page.getByRole('button', { name: 'Share this result' }).click();
    await owner.page.getByRole('button', { name: 'Make a link' }).click();
    const link = await owner.page.getByRole('textbox', { name: 'Link', exact: true }).inputValue();
    expect(await seriousFindings(owner.page)).toEqual([]);

    const page = await world.api.app.inject({ url: new URL(link).pathname });
    expect(page.headers['x-robots-tag']).toBe('noindex, nofollow');
    visitor = await openPage(world.browser, world.origin);
    await visitor.page.goto(new URL(link).pathname);
    await visitor.page.getByRole('heading', { level: 1, name: 'Volume by day' }).waitFor();
    await visitor.page.getByRole('img', { name: /^Line chart along day, 9 points/ }).waitFor();
    await visitor.page.getByText('this page is open until').waitFor();
    expect(await visitor.page.getByRole('table').getByRole('row').count()).toBe(10);
    expect(await visitor.page.getByText('FROM numbers(9)').isVisible()).toBe(false);
    await visitor.page.getByText('The query', { exact: true }).click();
    expect(await visitor.page.getByText('FROM numbers(9)').isVisible()).toBe(true);
    expect(await visitor.page.getByRole('link', { name: 'Open in SQL' }).getAttribute('href')).toContain(
      '/sql#',
    );
    expect(await seriousFindings(visitor.page)).toEqual([]);
    await keepPicture(visitor.page, 'shared-result');
    await looksRight(visitor, 'shared-result');

    await owner.page
      .getByRole('list', { name: 'Links to this result' })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await owner.page.getByRole('list', { name: 'Links to this result' }).waitFor({ state: 'detached' });
    await visitor.page.reload();
    await visitor.page.getByText('This link was revoked by the one who made it.').waitFor();
  });
});
