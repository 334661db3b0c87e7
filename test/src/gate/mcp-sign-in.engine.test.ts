import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import {
  type AddressInfo,
  connect as connectTo,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Type } from '@sinclair/typebox';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { defineOperation } from '../../../src/operations/define.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { PRICES } from '../../../src/operations/prices.ts';
import { register } from '../../../src/operations/register.ts';
import { call, STREAMABLE } from '../../kit/mcp-speakers.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

/** OAuth as an MCP client lives it: refused, shown the way to the issuer, and let in with the issuer's token. All on loopback, behind a proxy. */

const AUDIENCE = 'settlement-index';
let issuer: Server;
let issuerUrl: string;
let proxy: TcpServer;
let publicUrl: string;
let api: OwnApi;
let pair: Awaited<ReturnType<typeof generateKeyPair>>;
/** What clients asked tokens for. */
let wanted: (string | null)[] = [];

const portOf = (server: Server | TcpServer): number => (server.address() as AddressInfo).port; // listens on TCP

/** Takes any key, and runs without an index. */
const whoAmI = register(
  defineOperation({
    id: 'whoAmI',
    wire: {
      path: '/who',
      params: {},
      output: Type.Object({ standing: Type.String() }),
      fails: [],
    },
    words: {
      summary: 'Say who calls',
      description: 'Says who calls.',
      example: { standing: 'oauth' },
    },
    money: { price: PRICES.keyed },
    run: async (_input, _deps, { caller }) => ({ standing: caller.standing }),
  }),
);

beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256' }];
  issuer = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = await answerOf(request.url ?? '', Buffer.concat(chunks).toString(), keys);
      response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  issuer.listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  issuerUrl = `http://127.0.0.1:${portOf(issuer)}`;
  let target = 0;
  proxy = createTcpServer((inbound) => {
    const outbound = connectTo(target, '127.0.0.1');
    inbound.on('error', () => outbound.destroy());
    outbound.on('error', () => inbound.destroy());
    inbound.pipe(outbound).pipe(inbound);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  publicUrl = `http://127.0.0.1:${portOf(proxy)}`;
  api = await apiWith({ publicUrl: `${publicUrl}/` });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  target = portOf(api.app.server);
});
beforeEach(() => {
  wanted = [];
});
afterAll(async () => {
  await api?.close();
  proxy?.close();
  issuer?.closeAllConnections();
  issuer?.close();
});

async function apiWith(http: { publicUrl: string | null }, from: string | null = issuerUrl): Promise<OwnApi> {
  const base = loadConfig({ env: {} });
  return ownApi({
    config: {
      http: { ...base.http, ...http },
      oauth: { issuer: from, audience: AUDIENCE, jwksUrl: null, organizationClaim: 'org' },
    },
    operations: [...OPERATIONS.filter(({ id }) => id === 'getAccount'), whoAmI],
  });
}

/** What an issuer answers that knows client credentials. */
async function answerOf(url: string, body: string, keys: unknown): Promise<unknown> {
  switch (url) {
    case '/.well-known/oauth-authorization-server':
      return {
        issuer: issuerUrl,
        authorization_endpoint: `${issuerUrl}/authorize`,
        token_endpoint: `${issuerUrl}/token`,
        jwks_uri: `${issuerUrl}/keys`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      };
    case '/keys':
      return { keys };
    case '/token': {
      const resource = new URLSearchParams(body).get('resource');
      wanted.push(resource);
      return { access_token: await token(resource ?? ''), token_type: 'Bearer', expires_in: 300 };
    }
    default:
      return null;
  }
}

function token(audience: string, livesSeconds = 300): Promise<string> {
  const nowSeconds = Math.floor(api.clock.nowMs() / 1_000);
  return new SignJWT({ iss: issuerUrl, aud: audience, sub: 'agent-7', exp: nowSeconds + livesSeconds })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .sign(pair.privateKey);
}

const tool = (name: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: {} } });

const post = (payload: string, headers: Record<string, string> = {}, path = '/mcp', to = api) =>
  to.app.inject({
    method: 'POST',
    url: path,
    headers: { ...STREAMABLE, host: '127.0.0.1', ...headers },
    payload,
  });

const get = async (path: string, from = api) => {
  const answer = await from.app.inject({ method: 'GET', url: path });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
};

test('a client finds the issuer by itself, asks it for a token for us, and is let in', async () => {
  const authProvider = new ClientCredentialsProvider({ clientId: 'agent', clientSecret: 'not a secret' });
  for (const versionNegotiation of [{ mode: 'auto' }, { mode: 'legacy' }] as const) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation });
    const url = new URL(`${publicUrl}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
    expect((await call(client, 'who_am_i')).said).toEqual({ standing: 'oauth' });
    await client.close();
  }
  // The second client had the token of the first.
  expect(wanted).toEqual([`${publicUrl}/mcp`]);
});

describe('the metadata', () => {
  test.each(['', '/mcp', '/v0/mcp', '/api/v0/mcp'])(
    'names the resource of "%s" and its issuer',
    async (path) => {
      const { status, body, headers } = await get(`/.well-known/oauth-protected-resource${path}`);
      expect(status).toBe(200);
      expect(body).toEqual({
        resource: `${publicUrl}${path}`,
        authorization_servers: [issuerUrl],
        bearer_methods_supported: ['header'],
        resource_name: 'Settlement Index',
      });
      expect(headers['access-control-allow-origin']).toBe('*');
      // On either surface a token may be for the resource named here.
      const authorization = `Bearer ${await token(body.resource)}`;
      const answer = await api.app.inject({ method: 'GET', url: '/v0/who', headers: { authorization } });
      expect(answer.json()).toEqual({ standing: 'oauth' });
    },
  );

  test('is 404 where no issuer is configured, and where the deployment does not know its name', async () => {
    for (const [publicName, from, words] of [
      ['https://index.example', null, /oauth\.issuer/],
      [null, issuerUrl, /http\.publicUrl/],
    ] as const) {
      const other = await apiWith({ publicUrl: publicName }, from);
      const { status, body } = await get('/.well-known/oauth-protected-resource/mcp', other);
      expect([status, body.code]).toEqual([404, 'not_found']);
      expect(body.detail).toMatch(words);
      await other.close();
    }
  });
});

describe('401', () => {
  const way = (path: string) =>
    `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource${path}"`;

  test.each(['2026-07-28', '2025-11-25'])('shows the way, in protocol %s', async (version) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name: 'who_am_i', arguments: {}, ...(version === '2026-07-28' ? { _meta: meta } : {}) };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'who_am_i' };
    const answer = await post(message, headers, '/v0/mcp');
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(`Bearer realm="settlement-index", ${way('/v0/mcp')}`);
    expect(answer.json()).toMatchObject({ id: 7, error: { data: { code: 'api_key_required' } } });
  });

  test('answers a bad token, whatever it asks', async () => {
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    for (const text of [await token('another-audience'), await token(AUDIENCE, -60), 'no.token.this']) {
      for (const message of [list, tool('get_account'), tool('who_am_i')]) {
        const answer = await post(message, { authorization: `Bearer ${text}` });
        expect(answer.statusCode).toBe(401);
        expect(answer.headers['www-authenticate']).toBe(
          `Bearer realm="settlement-index", error="invalid_token", ${way('/mcp')}`,
        );
        expect(answer.body).not.toContain(text);
      }
    }
  });

  test('is on the other surface, too', async () => {
    const { status, headers } = await get('/v0/who');
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      `Bearer realm="settlement-index", ${way('')}`,
    ]);
  });

  test('is not what free tools answer, nor a key that is not known', async () => {
    expect((await post(tool('get_account'))).statusCode).toBe(200);
    const unknown = await post(tool('get_account'), { 'x-api-key': 'six_live_unknown' });
    expect([unknown.statusCode, unknown.body]).toEqual([200, expect.stringContaining('invalid_key')]);
  });

  test('is a refused tool where clients cannot get tokens', async () => {
    const closed = await apiWith({ publicUrl: 'https://index.example' }, null);
    const answer = await post(tool('who_am_i'), {}, '/mcp', closed);
    expect([answer.statusCode, answer.body]).toEqual([200, expect.stringContaining('api_key_required')]);
    await closed.close();
  });
});

test('tokens that are not good are counted for their address', async () => {
  const few = await ownApi({
    config: {
      http: { ...api.config.http, requestsPerMinute: 2 },
      oauth: api.config.oauth,
    },
    operations: [whoAmI],
  });
  const headers = { authorization: `Bearer ${await token('another-audience')}` };
  const statuses = [];
  for (let asked = 0; asked < 3; asked++)
    statuses.push((await post(tool('who_am_i'), headers, '/mcp', few)).statusCode);
  await few.close();
  expect(statuses).toEqual([401, 401, 429]);
});
