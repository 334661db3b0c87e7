import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointPath } from '../../console/routes.ts';
import { listEndpoints } from '../../src/operations/endpoints/declare.ts';
import { ENDPOINT_EXAMPLE } from '../../src/operations/endpoints/shape.ts';
import { browserIsThere, openPage, seriousFindings, startBrowser } from '../kit/browser.ts';
import { type OwnApi, ownApi } from '../kit/own-api.ts';
import { keepPicture } from '../kit/pictures.ts';

/** How the page of an endpoint says to call it, in a real browser. The directory answers its own example: no engine is asked. */

const SIZES = [
  [1_440, 'light'],
  [1_440, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const;
const PATH = `/console${endpointPath(ENDPOINT_EXAMPLE.resource)}`;

/** A seller of its own: answers 402, to scripts of other sites as well or not. */
async function startSeller() {
  const asked: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, reply) => {
    const { url = '', headers } = request;
    asked.push({ url, headers });
    const [offer] = ENDPOINT_EXAMPLE.accepts;
    const accepts = [{ ...offer, network: 'eip155:8453', payTo: offer?.pay_to, amount: '10000' }];
    if (url.startsWith('/open')) reply.setHeader('access-control-allow-origin', '*');
    reply.writeHead(402, { 'content-type': 'application/json' }).end(JSON.stringify({ accepts }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

describe.skipIf(!browserIsThere())('the page of an endpoint', () => {
  let api: OwnApi;
  let browser: Browser;
  let origin: string;
  let seller: Awaited<ReturnType<typeof startSeller>>;

  beforeAll(async () => {
    [api, browser, seller] = await Promise.all([ownApi(), startBrowser(), startSeller()]);
    origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
    seller?.close();
  });

  const open = async (options: Parameters<typeof openPage>[2]) => {
    const watched = await openPage(browser, origin, options);
    await watched.page.route('**/v0/endpoints?**', (route) =>
      route.fulfill({ json: { ...listEndpoints.words.example } }),
    );
    await watched.page.goto(PATH);
    await watched.page.getByRole('heading', { name: 'How to call it' }).waitFor();
    return watched;
  };

  test.each(SIZES)('shows inputs and offers legibly, %i pixels wide, %s', async (width, theme) => {
    const { page, close } = await open({ width, height: 900, theme });
    await page.getByRole('table', { name: /Inputs and outputs/ }).waitFor();
    await page.getByText('A town.').waitFor();
    await page.getByLabel('GET address').fill(`${seller.url}/open`);
    await page.getByRole('button', { name: 'Send without paying' }).click();
    await page
      .getByText('$0.01 on Base to')
      .or(page.getByText('It answered 402 Payment Required.'))
      .first()
      .waitFor();
    expect(await page.locator('.call-answer').textContent()).toMatch(
      /\$0\.01\s+on Base to 0x4020.*we saw paid/s,
    );
    await keepPicture(page, `endpoint-${width}-${theme}`);
    expect(await seriousFindings(page)).toEqual([]);
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBe(0);
    await close();
  });

  test('sends nothing before the click, and then no key and no cookie', async () => {
    const before = seller.asked.length;
    const { page, close } = await open({ key: `six_live_${'a'.repeat(32)}` });
    await page.getByLabel('GET address').fill(`${seller.url}/open?x=1`);
    expect(seller.asked.length).toBe(before);
    await page.getByRole('button', { name: 'Send without paying' }).click();
    await page.locator('.call-answer').waitFor();
    const { url, headers } = seller.asked.at(-1) ?? { url: '', headers: {} };
    expect(url).toBe('/open?x=1');
    expect(JSON.stringify(headers)).not.toMatch(/six_live|authorization|cookie|x-api-key|referer/i);
    expect(headers.origin).toBe('null');
    await close();
  });

  test('says plainly that a server lets no other site call it, and gives the command instead', async () => {
    const { page, close } = await open({});
    await page.getByLabel('GET address').fill(`${seller.url}/closed`);
    await page.getByRole('button', { name: 'Send without paying' }).click();
    await page.getByText('does not allow calls from other sites (CORS)').waitFor();
    expect(await page.locator('.call-line pre').textContent()).toBe(`curl -i '${seller.url}/closed'`);
    await page.getByRole('button', { name: 'Copy' }).last().waitFor();
    await page.getByLabel('GET address').fill('ftp://a.example/');
    await page.getByText('Only http and https addresses can be called.').waitFor();
    expect(await page.getByRole('button', { name: 'Send without paying' }).isDisabled()).toBe(true);
    await close();
  });
});
