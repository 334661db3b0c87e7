import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { ERROR_CODES } from '../../../core/errors.ts';
import { type TestApi, testApi } from '../../kit/api.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';

let engine: TestEngine;
let api: TestApi;
let url: string;

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await insertSettlements(
    engine.writer,
    Array.from({ length: 60 }, (_, logIndex) => settlement({ logIndex })),
  );
  await reportChain(engine.writer, BASE);
  url = await api.app.listen({ host: '127.0.0.1', port: 0 });
});

describe('headers of an answer', () => {
  test('carry id, quota, timing, cache rules and the next page', async () => {
    const { headers, body } = await api.get('/v0/flows?limit=2', { 'x-request-id': 'my-id.1' });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': 'my-id.1',
      'ratelimit-policy': '"default";q=1000000;w=60',
      ratelimit: expect.stringMatching(/^"default";r=\d+;t=\d+$/),
      'x-ratelimit-limit': '1000000',
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
      'server-timing': expect.stringMatching(/^queue;dur=[\d.]+, engine;dur=[\d.]+, total;dur=[\d.]+$/),
      'cache-control': 'private, no-cache',
      etag: expect.stringMatching(/^W\/".+"$/),
      vary: expect.stringContaining('X-API-Key'),
      link: `</v0/flows?limit=2&before=${body.next_before}>; rel="next"`,
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
  });

  test('the next link works as it is, and the last page has none', async () => {
    const first = await api.get('/v0/flows?limit=50');
    const next = /^<(.+)>; rel="next"$/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    const second = await api.get(next);
    expect(second.body.flows).toHaveLength(10);
    expect(second.headers['link']).toBeUndefined();
  });

  test('a deployment that knows its URL links absolutely', async () => {
    const named = await testApi(engine.reader, { http: { publicUrl: 'https://index.example/' } });
    const { headers } = await named.get('/v0/flows?limit=1');
    const problem = await named.get('/v0/flows?limit=x');
    await named.close();
    expect(headers['link']).toMatch(/^<https:\/\/index\.example\/v0\/flows\?limit=1&before=/);
    expect(problem.body.type).toBe('https://index.example/docs/errors#invalid_parameter');
  });

  test.each(['no spaces allowed', 'x'.repeat(129), ''])(
    'request id %j is replaced by a new one',
    async (id) => {
      const { headers } = await api.get('/healthz', { 'x-request-id': id });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe('ETag', () => {
  test('an unchanged list is 304 without a body, even later', async () => {
    const first = await api.get('/v0/flows');
    api.clock.advanceSeconds(5);
    const again = await api.get('/v0/flows', { 'if-none-match': first.headers['etag'] ?? '' });
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
    expect(again.headers['etag']).toBe(first.headers['etag']);
  });

  test('a new row changes the tag', async () => {
    const first = await api.get('/v0/flows?limit=5');
    await insertSettlements(engine.writer, [settlement({ logIndex: 0, facilitator: 'x402rs' })]);
    const last = await api.get('/v0/flows?limit=100');
    await insertSettlements(engine.writer, [settlement({ logIndex: 59, facilitator: 'x402rs' })]);
    const again = await api.get('/v0/flows?limit=5', { 'if-none-match': first.headers['etag'] ?? '' });
    expect([last.status, again.status]).toEqual([200, 200]);
  });
});

describe('compression', () => {
  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ])('%s on request', async (encoding, decompress) => {
    const answer = await api.app.inject({
      url: '/v0/flows',
      headers: { ...api.keyed, 'accept-encoding': encoding },
    });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(String(answer.headers.vary).toLowerCase()).toContain('accept-encoding');
    expect(JSON.parse(decompress(answer.rawPayload).toString()).flows).toHaveLength(50);
  });

  test('none without a request for it', async () => {
    const { headers } = await api.get('/v0/flows');
    expect(headers['content-encoding']).toBeUndefined();
  });
});

describe('CORS', () => {
  test('a preflight allows whatever headers the page asks for', async () => {
    const answer = await api.app.inject({
      method: 'OPTIONS',
      url: '/v0/flows',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers':
          'x-api-key, payment-signature, access-control-expose-headers, x-anything',
      },
    });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-headers']).toBe(
      'x-api-key, payment-signature, access-control-expose-headers, x-anything',
    );
  });

  test('every header of ours is exposed, on errors too', async () => {
    for (const path of ['/v0/flows', '/v0/flows?limit=x', '/nowhere']) {
      const { headers } = await api.get(path, { origin: 'https://app.example' });
      const exposed = (headers['access-control-expose-headers'] ?? '').toLowerCase();
      for (const name of [
        'x-request-id',
        'ratelimit',
        'retry-after',
        'etag',
        'link',
        'server-timing',
        'x-payment-response',
        'payment-response',
        'payment-required',
      ]) {
        expect(exposed.split(', ')).toContain(name);
      }
    }
  });
});

describe('refusals', () => {
  test('HEAD answers like GET without a body', async () => {
    const answer = await api.app.inject({ method: 'HEAD', url: '/v0/flows', headers: api.keyed });
    expect([answer.statusCode, answer.body]).toEqual([200, '']);
    expect(answer.headers.etag).toBeDefined();
  });

  test.each([
    ['/v1', 404, 'not_found'],
    ['/v1/flows', 404, 'not_found'],
    ['/v0/entities//settlements', 400, 'invalid_parameter'],
    ['/v0/%ZZ', 400, 'malformed_request'],
    [`/v0/entities/${'a'.repeat(300)}/settlements`, 414, 'uri_too_long'],
    [`/v0/flows?before=${'a'.repeat(5_000)}`, 414, 'uri_too_long'],
    ['/v0/flows?limit=5&limit=6', 400, 'invalid_parameter'],
    ['/v0/flows?limit=%ZZ', 400, 'invalid_parameter'],
    [
      '/v0/entities/0x00000000000000000000000000000000000000a1/settlements?wallet=0x00000000000000000000000000000000000000a2',
      400,
      'invalid_parameter',
    ],
  ])('%s is %i %s', async (path, status, code) => {
    const answer = await api.get(path);
    expect({ status: answer.status, code: answer.body?.code }).toEqual({ status, code });
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.body).toMatchObject({
      type: `/docs/errors#${code}`,
      title: expect.any(String),
      status,
      detail: expect.any(String),
      instance: expect.stringMatching(/^\//),
      request_id: answer.headers['x-request-id'],
    });
  });

  test('huge headers are 431 as a problem', async () => {
    const answer = await raw(`GET /v0/flows HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"headers_too_large"');
  });

  test('a message that is not HTTP is 400 as a problem', async () => {
    const answer = await raw('hello\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"malformed_request"');
  });

  test('a method that no route has is 405 on a path that is there, and 404 elsewhere', async () => {
    const flows = await raw('PROPFIND /v0/flows?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(flows).toMatch(/^HTTP\/1\.1 405 /);
    expect(flows).toMatch(/\r\nallow: GET, HEAD, OPTIONS\r\n/i);
    expect(flows).toContain('"code":"method_not_allowed"');
    const agent = await raw(
      `PROPFIND /v0/agents/0x${'0'.repeat(40)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(agent).toMatch(/^HTTP\/1\.1 405 /);
    const nowhere = await raw('PROPFIND /v0/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(nowhere).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('a Content-Encoding without a body is no reason to refuse a GET', async () => {
    expect((await api.get('/v0/flows', { 'content-encoding': 'gzip' })).status).toBe(200);
  });

  test('a body is not read where none is taken', async () => {
    const answer = await api.app.inject({
      method: 'POST',
      url: '/v0/flows',
      payload: 'x'.repeat(1_000_000),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.statusCode).toBe(405);
  });

  test('health is free of the quota', async () => {
    const strict = await testApi(engine.reader, { http: { requestsPerMinute: 1 } });
    const statuses = [];
    for (let times = 0; times < 5; times++) statuses.push((await strict.get('/healthz')).status);
    await strict.close();
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });

  test('every error code has its place on the page that problems link to', async () => {
    const { text, headers } = await api.get('/docs/errors');
    expect(headers['content-type']).toContain('text/html');
    for (const code of ERROR_CODES) expect(text).toContain(`id="${code}"`);
  });
});

async function raw(request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
  });
  socket.on('error', () => socket.destroy());
  socket.write(request);
  await once(socket, 'close');
  return answer;
}
