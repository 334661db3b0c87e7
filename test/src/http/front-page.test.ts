import { afterAll, beforeAll, expect, test } from 'vitest';
import { prefersHtml } from '../../../src/http/headers.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

/** What the service says of itself at its own address, to people and to programs. */

let api: OwnApi;

beforeAll(async () => {
  api = await ownApi();
});
afterAll(() => api?.close());

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const ADDRESSES = ['/', '/v0', '/api/v0', '/v0/'];

const get = (url: string, accept?: string) =>
  api.app.inject({ method: 'GET', url, headers: accept === undefined ? {} : { accept } });

test.each(ADDRESSES)('%s names the parts of the service to programs, and each is there', async (url) => {
  for (const accept of [undefined, '*/*', 'application/json']) {
    const answer = await get(url, accept);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
  }
  const body = (await get(url)).json();
  expect(body).toMatchObject({ name: 'Settlement Index', version: expect.stringMatching(/^\d/) });
  expect(Object.keys(body.links)).toEqual(['docs', 'console', 'openapi', 'mcp', 'llms', 'account', 'plans']);
  for (const [name, at] of Object.entries<string>(body.links)) {
    const { statusCode } = await get(at);
    expect([name, statusCode]).toEqual([name, name === 'mcp' ? 405 : 200]);
  }
  expect(
    body.try.map((trial: { method: string; url: string }) => `${trial.method} ${trial.url.split('?')[0]}`),
  ).toEqual(['GET /v0/telemetry', 'GET /v0/endpoints', 'POST /v0/sql']);
});

test.each(ADDRESSES)(
  '%s shows people a page that needs no script, in the look of the documentation',
  async (url) => {
    const answer = await get(url, BROWSER);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers['vary']).toContain('Accept');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    const [, article = ''] = /<article>([\s\S]*)<\/article>/.exec(answer.body) ?? [];
    for (const at of ['/docs', '/console', '/openapi.json', '/llms.txt', '/v0/account', '/plans'])
      expect(article).toContain(`href="${at}"`);
    expect(article).toContain('/mcp');
    expect(article.match(/curl -s/g)).toHaveLength(3);
    expect(article).not.toMatch(/<script|<style| style=/);
  },
);

test('the two forms are kept apart by caches, and another method is refused', async () => {
  const [page, json] = [await get('/', BROWSER), await get('/')];
  expect(page.headers.etag).not.toBe(json.headers.etag);
  const again = await api.app.inject({
    method: 'GET',
    url: '/',
    headers: { 'if-none-match': json.headers.etag },
  });
  expect(again.statusCode).toBe(304);
  expect((await api.app.inject({ method: 'POST', url: '/v0' })).statusCode).toBe(405);
  const posted = await api.app.inject({ method: 'POST', url: '/?database=default', payload: 'SELECT 1' });
  expect([posted.statusCode, posted.json().detail]).toEqual([405, expect.stringContaining('/clickhouse')]);
});

test('below a path of its host, every address is complete', async () => {
  const http = { ...api.config.http, publicUrl: 'https://index.example/six/' };
  const below = await ownApi({ config: { http } });
  const [json, page] = await Promise.all(
    ['*/*', BROWSER].map((accept) => below.app.inject({ method: 'GET', url: '/', headers: { accept } })),
  );
  await below.close();
  expect(json?.json().links.docs).toBe('https://index.example/six/docs');
  const [, article = ''] = /<article>([\s\S]*)<\/article>/.exec(page?.body ?? '') ?? [];
  expect([...article.matchAll(/href="([^"]*)"/g)].filter(([, at]) => !at?.startsWith('/six/'))).toEqual([]);
  expect(article).toContain('curl -s &quot;https://index.example/six/v0/telemetry&quot;');
});

test('llms.txt names the same places', async () => {
  const { body } = await get('/llms.txt');
  for (const place of ['/mcp', '/v0', '/openapi.json', '/v0/account', 'table=settlements', 'functions=date'])
    expect(body).toContain(place);
});

test.each([
  [BROWSER, true],
  ['text/html', true],
  ['application/json', false],
  ['*/*', false],
  [undefined, false],
  ['', false],
  ['application/json, text/html;q=0.5', false],
  ['application/json;q=0.5, text/html', true],
  ['text/html;q=0', false],
  ['application/*, text/html;q=0.9', false],
])('Accept %s: a page is %s', (accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected);
});
