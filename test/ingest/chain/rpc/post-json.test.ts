import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createEndpoint, type RpcOutcome } from '../../../../ingest/chain/rpc/endpoint.ts';
import { RPC_LIMITS } from '../../../../ingest/chain/rpc/limits.ts';
import { createJsonPoster } from '../../../../ingest/chain/rpc/post-json.ts';

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Serve = (body: string, response: ServerResponse, request: IncomingMessage) => void;

async function serverThat(serve: Serve): Promise<string> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => serve(Buffer.concat(pieces).toString('utf8'), response, request));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server that listens has one
}

const never = new AbortController().signal;
const MAX_BYTES = 100_000;
const ANSWER = JSON.stringify({ result: 'é日本'.repeat(2_000) });

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('an answer compressed with %s is read as it was written', async (encoding, compress) => {
  const url = await serverThat((_body, response) => {
    response.writeHead(200, { 'content-encoding': encoding });
    response.end(compress(ANSWER));
  });
  expect((await createJsonPoster(url, MAX_BYTES).post('{}', never)).text).toBe(ANSWER);
});

test('answers that arrive in pieces at the same time are not mixed up', async () => {
  const url = await serverThat((body, response) => {
    const text = Buffer.from(`${body}${'é'.repeat(20_000)}`);
    response.write(text.subarray(0, 1_001), () => setImmediate(() => response.end(text.subarray(1_001))));
  });
  const poster = createJsonPoster(url, MAX_BYTES);
  const bodies = Array.from({ length: 8 }, (_, index) => JSON.stringify({ index }));
  const answers = await Promise.all(bodies.map((body) => poster.post(body, never)));
  expect(answers.map(({ text }) => text)).toEqual(bodies.map((body) => `${body}${'é'.repeat(20_000)}`));
});

test('a redirect that keeps the method gets the same body again; one in a circle ends', async () => {
  const there = await serverThat((body, response) => response.end(body));
  const here = await serverThat((_body, response, { url }) => {
    response.writeHead(308, { location: url === '/circle' ? '/circle' : `${there}/moved` });
    response.end('moved');
  });
  expect(await createJsonPoster(here, MAX_BYTES).post('{"a":1}', never)).toMatchObject({
    status: 200,
    text: '{"a":1}',
  });
  expect((await createJsonPoster(`${here}/circle`, MAX_BYTES).post('{}', never)).status).toBe(308);
});

test('user and password of a URL are sent as basic authorization, here and after a redirect within the node', async () => {
  const seen: (string | undefined)[] = [];
  const url = await serverThat((_body, response, { url: path, headers }) => {
    seen.push(headers.authorization);
    if (path === '/') response.writeHead(307, { location: '/v2' });
    response.end('{}');
  });
  await createJsonPoster(url.replace('//', '//us%40er:p%3Aw@'), MAX_BYTES).post('{}', never);
  const basic = `Basic ${Buffer.from('us@er:p:w').toString('base64')}`;
  expect(seen).toEqual([basic, basic]);
});

test.each(['plain', 'gzip'])(
  'a %s answer above the limit is refused before it is read whole',
  async (kind) => {
    let closed: () => void = () => undefined;
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const large = Buffer.alloc(MAX_BYTES + 1, ' ');
    const url = await serverThat((_body, response) => {
      response.on('close', closed);
      if (kind === 'gzip') response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(kind === 'gzip' ? gzipSync(large) : large); // and never ends
    });
    await expect(createJsonPoster(url, MAX_BYTES).post('{}', never)).rejects.toMatchObject({
      kind: 'too-large',
    });
    await isClosed;
  },
);

test('an answer that breaks off is an error, compressed or not', async () => {
  for (const encoding of ['identity', 'gzip']) {
    const url = await serverThat((_body, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      const bytes = encoding === 'gzip' ? gzipSync(ANSWER) : Buffer.from(ANSWER);
      response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    });
    await expect(createJsonPoster(url, MAX_BYTES).post('{}', never)).rejects.toThrow();
  }
});

describe('an endpoint over HTTP', () => {
  async function outcomeOf(status: number, body: string): Promise<RpcOutcome | undefined> {
    const url = await serverThat((_body, response) => response.writeHead(status).end(body));
    const endpoint = createEndpoint(url, { requestsPerSecond: 1_000, limits: RPC_LIMITS, signal: undefined });
    return (await endpoint.exchange([{ method: 'eth_test', params: [] }]))[0];
  }

  test('reads the JSON-RPC error in a 400, and the status of a page', async () => {
    const refusal = JSON.stringify({ id: 0, error: { code: -32_602, message: 'block range too large' } });
    expect(await outcomeOf(400, refusal)).toMatchObject({ failure: { kind: 'too-large' } });
    expect(await outcomeOf(400, '<html>')).toMatchObject({
      failure: { kind: 'unavailable', message: 'HTTP status 400' },
    });
    expect(await outcomeOf(302, '')).toMatchObject({ failure: { kind: 'unavailable' } });
  });

  test('takes no half JSON and no text for an answer', async () => {
    expect(await outcomeOf(200, '{"id":0,"resu')).toMatchObject({ failure: { kind: 'unreadable' } });
    expect(await outcomeOf(200, '')).toMatchObject({ failure: { kind: 'unreadable' } });
  });
});
