import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { afterAll, expect, test } from 'vitest';
import { createForwarder } from '../../../src/mcp-bridge/forwarder.ts';
import { serviceUrls } from '../../../src/mcp-bridge/service-url.ts';
import { type StrangerServer, strangerServer } from '../../kit/stranger-server.ts';

/** What the bridge makes of answers that are odd: a client that asked gets exactly one. */

const open: StrangerServer[] = [];
afterAll(() => Promise.all(open.map((server) => server.close())));

async function answersTo(type: string, status: number, body: string, headers: Record<string, string> = {}) {
  const server = await strangerServer((_request, response) => {
    response.writeHead(status, { 'content-type': type, ...headers }).write(body);
    if (body.endsWith('…')) setTimeout(() => response.destroy(), 20);
    else response.end();
  });
  open.push(server);
  const delivered: JSONRPCMessage[] = [];
  const said: string[] = [];
  const forwarder = createForwarder({
    urls: serviceUrls(`http://127.0.0.1:${server.port}`),
    key: 'six_live_mine',
    waitMs: 0,
    deliver: async (message) => void delivered.push(message),
    tell: (line) => void said.push(line),
  });
  await forwarder.forward({ jsonrpc: '2.0', id: 5, method: 'tools/list' });
  await forwarder.close();
  expect(`${JSON.stringify(delivered)}${said.join()}`).not.toContain('six_live_mine');
  return delivered;
}

const error = (message: RegExp) => [{ id: 5, error: { message: expect.stringMatching(message) } }];
const json = 'application/json';
const events = 'text/event-stream; charset=utf-8';
const answer = { jsonrpc: '2.0', id: 5, result: {} };

test.each([
  ['a message', json, 200, JSON.stringify(answer), [answer]],
  [
    'what only this protocol knows',
    json,
    400,
    '{"jsonrpc":"2.0","id":5,"error":{"code":-9,"message":"x"}}',
    error(/^x$/),
  ],
  [
    'an error of nobody',
    json,
    400,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-9,"message":"x"}}',
    error(/^x$/),
  ],
  ['events', events, 200, `: hello\n\nevent: message\ndata: ${JSON.stringify(answer)}\n\n`, [answer]],
  ['an end without an answer', events, 200, ': hello\n\n', error(/ended before the answer/)],
  ['events that break off', events, 200, 'data: {"jsonrpc"…', error(/ended before the answer/)],
  ['JSON that breaks off', json, 200, '{"jsonrpc"…', error(/ended before the answer/)],
  [
    'a problem',
    'application/problem+json',
    403,
    '{"code":"forbidden_origin","detail":"Not from here."}',
    error(/^forbidden_origin: Not/),
  ],
  ['a page', 'text/html', 200, '<html>', error(/is not a Settlement Index/)],
  ['nothing', json, 202, '', error(/ended before the answer/)],
] as const)('%s', async (_what, type, status, body, expected) => {
  expect(await answersTo(type, status, body)).toMatchObject([...expected]);
});

test('a redirect is told, and not followed', async () => {
  const location = 'https://elsewhere.example/mcp';
  expect(await answersTo('text/html', 308, '', { location })).toMatchObject(
    error(/redirects to https:\/\/elsewhere\.example/),
  );
});
