import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** What arrives over raw sockets, as no client library would send it. */

const opened: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of opened.splice(0).reverse()) await end();
});

async function listening(options: Parameters<typeof ownApi>[0] = {}): Promise<{ api: OwnApi; port: number }> {
  const api = await ownApi(options);
  opened.push(() => api.close());
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  return { api, port: Number(new URL(url).port) };
}

interface Peer {
  readonly socket: Socket;
  /** What was received until the service closed the connection. */
  readonly received: Promise<string>;
}

async function open(port: number): Promise<Peer> {
  const socket = connect(port, '127.0.0.1');
  opened.push(() => void socket.destroy());
  socket.on('error', () => socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const received = once(socket, 'close').then(() => text);
  await once(socket, 'connect');
  return { socket, received };
}

async function ask(port: number, request: string): Promise<string> {
  const { socket, received } = await open(port);
  socket.write(request);
  return received;
}

describe('a request that takes its time', () => {
  const RECEIVE_MS = 300;
  const HEAD =
    'POST /v0/sql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n';

  test.each([
    ['whose body comes byte by byte', HEAD],
    ['whose body never comes', HEAD],
    ['whose head comes byte by byte', 'GET /healthz HTTP/1.1\r\nX: '],
  ])('%s is 408 as a problem, and its connection is closed', async (what, start) => {
    const { port } = await listening({ receiveMaxMs: RECEIVE_MS });
    const { socket, received } = await open(port);
    const startedMs = performance.now();
    socket.write(start);
    const drip = what.includes('byte by byte') ? setInterval(() => socket.write('1'), 20) : undefined;
    const answer = await received;
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    // The limit, a look of Node's, and the time that a peer has to end its side.
    expect(performance.now() - startedMs).toBeLessThan(2 * RECEIVE_MS + 1_500);
  });

  test('has 15 seconds in the product, and Node looks every second', async () => {
    const { api } = await listening();
    const { requestTimeout, headersTimeout } = api.app.server;
    expect({ requestTimeout, headersTimeout }).toEqual({ requestTimeout: 15_000, headersTimeout: 15_000 });
  });
});

describe('two Host headers', () => {
  test.each(['Host: a\r\nHost: b', 'Host: a\r\nhost: a', 'Host: a\r\nAccept: */*\r\nHOST: b'])(
    '%j are 400',
    async (hosts) => {
      const { port } = await listening();
      const answer = await ask(port, `GET /healthz HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"code":"malformed_request"');
      expect(answer).toContain('more than one Host header');
    },
  );

  test('one is served, together with a header that forwards another', async () => {
    const { port } = await listening();
    const answer = await ask(
      port,
      'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host: b\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('connections beyond http.maxConnections', () => {
  const MAX = 3;
  const ASK = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const capped = async () => {
    const { http } = loadConfig({ env: {} });
    const { api, port } = await listening({ config: { http: { ...http, maxConnections: MAX } } });
    const held = [];
    for (let n = 0; n < MAX; n++) held.push(await open(port));
    return { api, port, held };
  };

  test('are answered 503 with the time to come again, and closed; health is answered, and then closed', async () => {
    const { port } = await capped();
    const refused = await ask(port, ASK('/v0/account'));
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/\r\nretry-after: 2\r\n/i);
    expect(refused).toMatch(/\r\nconnection: close\r\n/i);
    expect(refused).toContain('"code":"overloaded"');
    expect(refused).toContain('as many connections as it can hold');
    expect(await ask(port, ASK('/healthz'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('those that were there before are served on, and one that ends makes room', async () => {
    const { port, held } = await capped();
    const [first, second] = held;
    first?.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await first?.received).toMatch(/^HTTP\/1\.1 200 /);
    second?.socket.destroy();
    await waitUntil('there is room', async () => {
      const answer = await ask(port, 'GET /v0/account HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      return answer.startsWith('HTTP/1.1 200 ');
    });
  });

  test('one that asks for nothing is answered 503 and closed all the same', async () => {
    const { port } = await capped();
    const { received } = await open(port);
    const answer = await received;
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nRetry-After: 2\r\n/);
    expect(answer).toContain('"code":"overloaded"');
  });

  test('so many that their refusals would be a load are dropped by the system', async () => {
    const { api } = await capped();
    expect(api.app.server.maxConnections).toBe(MAX + 256);
  });
});

describe('pages of other sites', () => {
  test('read every answer but the pages of the console, which may hold the key of visitors', async () => {
    const { api } = await listening();
    const origin = 'https://other.example';
    const page = await api.app.inject({ url: '/console', headers: { origin } });
    const [script = ''] = /\/console\/assets\/[^"]+\.js/.exec(page.body) ?? [];
    for (const url of [
      '/console',
      '/console/',
      '/console/sql',
      '/%63onsole',
      script,
      '/console/assets/none.js',
    ])
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'] as const) {
        const asking = { origin, 'access-control-request-method': 'GET' };
        const { headers } = await api.app.inject({ method, url, headers: asking });
        const named = Object.keys(headers).filter((name) => name.startsWith('access-control'));
        expect([method, url, named]).toEqual([method, url, []]);
      }
    for (const url of ['/v0/account', '/openapi.json', '/nowhere', '/consoles'])
      expect(
        (await api.app.inject({ url, headers: { origin } })).headers['access-control-allow-origin'],
      ).toBe('*');
  });
});
