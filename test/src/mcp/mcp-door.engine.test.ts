import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JSON_BODY_MAX_BYTES } from '../../../src/http/request-input.ts';
import { addKey, createOrganization } from '../../kit/access.ts';
import { STREAMABLE } from '../../kit/mcp-speakers.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

/** What MCP clients meet before any tool: methods, headers, origins and bodies, as the transport of the protocol wants them. */

let api: OwnApi;

beforeAll(async () => {
  api = await ownApi();
});
afterAll(() => api?.close());

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

const post = (headers: Record<string, string>, payload: string | Buffer = LIST) =>
  api.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...STREAMABLE, host: '127.0.0.1', ...headers },
    payload,
  });

describe('origins', () => {
  test('pages of other sites, and names that others gave this machine, are refused', async () => {
    expect((await post({ host: 'localhost:8402', origin: 'http://localhost:3000' })).statusCode).toBe(200);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { host: 'rebound.example' },
    ]) {
      const answer = await post(headers);
      expect([headers, answer.statusCode]).toEqual([headers, 403]);
      expect(answer.json()).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'forbidden_origin' } } });
    }
  });

  test('where the names are not known, a page may call the host that it is of, and loopback pages any', async () => {
    const open = await ownApi({ config: { http: { ...api.config.http, host: '0.0.0.0' } } });
    const status = async (host: string, origin?: string) => {
      const headers = { ...STREAMABLE, host, ...(origin === undefined ? {} : { origin }) };
      return (await open.app.inject({ method: 'POST', url: '/mcp', headers, payload: LIST })).statusCode;
    };
    expect([
      await status('index.example'),
      await status('index.example', 'https://index.example'),
      await status('index.example', 'http://localhost:6274'),
      await status('index.example', 'https://evil.example'),
    ]).toEqual([200, 200, 200, 403]);
    await open.close();
  });

  test('behind a proxy the name counts that callers use', async () => {
    const http = { ...api.config.http, publicUrl: 'https://index.example', trustProxy: 1 };
    const proxied = await ownApi({ config: { http } });
    const status = async (forwarded: string) => {
      const headers = { ...STREAMABLE, host: 'backend:8402', 'x-forwarded-host': forwarded };
      return (await proxied.app.inject({ method: 'POST', url: '/mcp', headers, payload: LIST })).statusCode;
    };
    expect([await status('index.example'), await status('evil.example')]).toEqual([200, 403]);
    await proxied.close();
  });

  test('a page of a listed origin may call with a key of its own, and with none it may not', async () => {
    const http = { ...api.config.http, mcpOrigins: ['https://app.example'] };
    const open = await ownApi({ config: { http } });
    const status = async (origin: string, more: Record<string, string>) => {
      const headers = { ...STREAMABLE, host: '127.0.0.1', origin, ...more };
      return (await open.app.inject({ method: 'POST', url: '/mcp', headers, payload: LIST })).statusCode;
    };
    expect([
      await status('https://app.example', { 'x-api-key': 'six_live_x' }),
      await status('https://app.example', { authorization: 'Bearer six_live_x' }),
      await status('https://app.example', {}),
      await status('https://app.example.evil.example', { 'x-api-key': 'six_live_x' }),
    ]).toEqual([200, 200, 403, 403]);
    await open.close();
  });

  test('a preflight exposes how to sign in', async () => {
    const { statusCode, headers } = await api.app.inject({
      method: 'OPTIONS',
      url: '/mcp',
      headers: {
        host: '127.0.0.1',
        origin: 'http://localhost:6274',
        'access-control-request-method': 'POST',
      },
    });
    expect(statusCode).toBe(204);
    expect(String(headers['access-control-expose-headers'])).toContain('WWW-Authenticate');
  });
});

describe('messages', () => {
  test.each(['GET', 'DELETE', 'PUT'] as const)('%s is 405 and names POST', async (method) => {
    const answer = await api.app.inject({ method, url: '/mcp', headers: { host: '127.0.0.1' } });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });

  test.each([
    ['application/json', 'application/json'],
    ['application/json;q=0.9', 'application/json'],
    ['text/event-stream', 'text/event-stream'],
    ['application/json, text/event-stream', 'text/event-stream'],
    ['*/*', 'text/event-stream'],
    ['text/html', 'text/event-stream'],
  ])('Accept: %s is answered with the same list as %s', async (accept, type) => {
    const { statusCode, headers, body } = await post({ accept });
    expect([statusCode, headers['content-type']]).toEqual([200, type]);
    const [, data = body] = /^data: ?(.*)$/m.exec(body) ?? [];
    expect(JSON.parse(data)).toMatchObject({ jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) } });
  });

  test('params and arguments that are null are none', async () => {
    const said = async (message: object) =>
      (
        await post({ accept: 'application/json' }, JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }))
      ).json();
    expect(await said({ method: 'tools/list', params: null })).toMatchObject({
      result: { tools: expect.any(Array) },
    });
    const called = await said({ method: 'tools/call', params: { name: 'get_account', arguments: null } });
    expect(called).toMatchObject({ result: { structuredContent: { sql_tiers: expect.any(Array) } } });
  });

  test('a slash at the end of the address changes nothing', async () => {
    const headers = { ...STREAMABLE, host: '127.0.0.1' };
    for (const [method, url, status] of [
      ['POST', '/mcp/', 200],
      ['GET', '/mcp/', 405],
      ['GET', '/healthz/', 200],
      ['GET', '/v0/', 200],
      ['POST', '/v0/flows/', 405],
    ] as const) {
      const answer = await api.app.inject({
        method,
        url,
        headers,
        ...(status === 200 && method === 'POST' ? { payload: LIST } : {}),
      });
      expect([url, answer.statusCode]).toEqual([url, status]);
    }
  });

  test('a notification is 202 without a body', async () => {
    const answer = await post({}, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    expect([answer.statusCode, answer.body]).toEqual([202, '']);
  });

  const refused: readonly (readonly [string, number, number, Record<string, string>, string | Buffer])[] = [
    ['a text that is not JSON', 400, -32_700, {}, '{"jsonrpc":'],
    ['an empty body', 400, -32_700, {}, ''],
    ['a name given twice', 400, -32_700, {}, '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}'],
    ['JSON that is no message', 400, -32_600, {}, '{"method":7}'],
    ['a batch', 400, -32_600, {}, `[${LIST}]`],
    ['another media type', 415, -32_000, { 'content-type': 'text/plain' }, LIST],
    ['a compressed body', 415, -32_000, { 'content-encoding': 'gzip' }, LIST],
    ['a body that is too large', 413, -32_000, {}, Buffer.alloc(JSON_BODY_MAX_BYTES + 1, ' ')],
    ['a protocol that is not spoken', 400, -32_000, { 'mcp-protocol-version': '2024-11-05' }, LIST],
  ];
  test.each(refused)('%s is %i in HTTP and %i in JSON-RPC', async (_what, status, code, headers, body) => {
    const answer = await post(headers, body);
    expect(answer.statusCode).toBe(status);
    expect(String(answer.headers['content-type'])).toMatch(/^application\/json/);
    expect(answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code } });
    expect(answer.json().error.message.length).toBeGreaterThan(10);
  });

  test('a refusal here costs nothing', async () => {
    const organizationId = await createOrganization(api.store, { units: 10 });
    const key = await addKey(api.store, { organizationId });
    const query = { name: 'run_sql', arguments: { sql: 'SELECT 1' } };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: query });
    const sent: readonly (readonly [Record<string, string>, string])[] = [
      [{ origin: 'https://evil.example' }, message],
      [{ 'content-type': 'text/plain' }, message],
      [{ 'mcp-protocol-version': '2024-11-05' }, message],
      [{ 'mcp-protocol-version': '2026-07-28' }, message],
      [{}, `[${message}]`],
      [{}, message.slice(0, -1)],
    ];
    for (const [headers, body] of sent) {
      const { statusCode } = await post({ 'x-api-key': key, ...headers }, body);
      expect([headers, statusCode >= 400]).toEqual([headers, true]);
    }
    expect(await api.store.units.balance(organizationId)).toMatchObject({ balance: 10, held: 0, spent: 0 });
  });

  test('a client that only knows older protocols gets the list of spoken ones', async () => {
    const params = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    };
    const answer = await post({}, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
    expect(answer.body).toContain('"protocolVersion":"2025-11-25"');
  });

  test('a stream of events is not compressed: a compressor would hold it back', async () => {
    const { headers } = await post({ 'accept-encoding': 'gzip' });
    expect([headers['content-type'], headers['content-encoding']]).toEqual(['text/event-stream', undefined]);
  });
});
