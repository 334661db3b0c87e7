import { expect } from 'vitest';
import { createPictures } from '../../../src/http/share/draw.ts';
import { PICTURE_SIZE, pictureSvg } from '../../../src/http/share/picture.ts';
import { ANONYMOUS } from '../../kit/api.ts';
import { test } from '../../kit/fixtures.ts';
import { wallet } from '../../kit/rows.ts';
import { type SavedCalls, savedOf } from '../../kit/saved.ts';
import type { SqlApi } from '../../kit/sql-api.ts';

/** What other sites show of the service: words and pictures of links, and dashboards in frames. */

let sql: SqlApi;
let owner: SavedCalls;

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  owner = await savedOf(sql);
});

const WHOLE = { svg: '<svg/>', isWhole: true };

const page = async (url: string) => sql.api.app.inject({ method: 'GET', url, headers: ANONYMOUS });

test('a picture of a dashboard, of a wallet and of the home page is a PNG of the size that it says', async () => {
  for (const url of ['/og/dashboards/index/home.png', `/og/wallets/${wallet(3)}.png`]) {
    const { statusCode, headers, rawPayload } = await page(url);
    expect([statusCode, headers['content-type']]).toEqual([200, 'image/png']);
    expect([rawPayload.readUInt32BE(16), rawPayload.readUInt32BE(20)]).toEqual([
      PICTURE_SIZE.width,
      PICTURE_SIZE.height,
    ]);
    expect(rawPayload.length).toBeGreaterThan(10_000);
  }
});

test('there is no picture of what is not there, or not for everyone', async () => {
  await owner.send('PUT', '/v0/dashboards/secret', { panels: [], title: 'Secret' });
  for (const url of [
    '/og/dashboards/index/nothing.png',
    '/og/dashboards/index/home',
    `/og/dashboards/${owner.owner}/secret.png`,
    '/og/wallets/0x12.png',
  ])
    expect((await page(url)).statusCode, url).toBe(404);
});

test('pictures are drawn one at a time, each once, and more than wait their turn are refused', async () => {
  let drawing = 0;
  let most = 0;
  let drawn = 0;
  const pictures = createPictures(async () => {
    drawing += 1;
    most = Math.max(most, drawing);
    await new Promise(setImmediate);
    drawing -= 1;
    drawn += 1;
    return Buffer.from('png');
  });
  const asked = await Promise.allSettled(
    Array.from({ length: 12 }, (_, at) => pictures.png(`${at}`, async () => WHOLE)),
  );
  expect(asked.filter(({ status }) => status === 'rejected')).toHaveLength(4);
  await pictures.png('0', async () => WHOLE);
  expect([most, drawn]).toEqual([1, 8]);
  await pictures.png('part', async () => ({ ...WHOLE, isWhole: false }));
  await pictures.png('part', async () => WHOLE);
  await pictures.png('part', async () => WHOLE);
  expect(drawn).toBe(10);
});

test('words of others are no markup of a picture', () => {
  const svg = pictureSvg({ title: '<script>"&', subtitle: '</text>', figures: [], line: [], isWhole: true });
  expect(svg).toContain('&lt;script&gt;&quot;&amp;');
  expect(svg).not.toContain('<script>');
});

const metas = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)">/g)].map(
      ([, name = '', text = '']) => [name, text],
    ),
  );

test('the home page, a dashboard and a wallet say what a link to them shows', async () => {
  await owner.send('PUT', '/v0/dashboards/open', {
    panels: [],
    title: 'Ours & "theirs"',
    visibility: 'public',
  });
  const titles = await Promise.all(
    [
      '/console',
      '/console/dashboards/index/facilitators?period=24h',
      `/console/dashboards/${owner.owner}/open`,
      `/console/dashboards/${owner.owner}/secret`,
      `/console/merchants/${wallet(3)}`,
    ].map(async (url) => metas((await page(url)).body)['og:title']),
  );
  expect(titles).toEqual([
    'Settlement Index',
    'Facilitators · Settlement Index',
    'Ours &amp; &quot;theirs&quot; · Settlement Index',
    'Settlement Index',
    '0x000000…000003 · Settlement Index',
  ]);
});

test('a dashboard may be shown in a frame, a private one with its token alone, and nothing else may', async () => {
  const { token } = (await owner.send('PUT', '/v0/dashboards/framed', { panels: [], token: 'new' })).body;
  const ancestors = (headers: Record<string, unknown>): string | undefined =>
    /frame-ancestors [^;]+/.exec(String(headers['content-security-policy']))?.[0];
  for (const url of ['/embed/index/home?period=24h', `/embed/${owner.owner}/framed?token=${token}`]) {
    const { statusCode, headers, body } = await page(url);
    expect([statusCode, ancestors(headers), headers['x-frame-options']]).toEqual([
      200,
      'frame-ancestors *',
      undefined,
    ]);
    expect(body).not.toContain('six-visitor-key');
  }
  const console = await page('/console/dashboards/index/home');
  expect([ancestors(console.headers), console.headers['x-frame-options']]).toEqual([
    "frame-ancestors 'none'",
    'DENY',
  ]);
  for (const url of [`/embed/${owner.owner}/framed`, `/embed/${owner.owner}/framed?token=other`])
    expect((await page(url)).statusCode).toBe(404);
  await owner.send('PUT', '/v0/dashboards/framed', { panels: [], token: 'none' });
  expect((await page(`/embed/${owner.owner}/framed?token=${token}`)).statusCode).toBe(404);
});
