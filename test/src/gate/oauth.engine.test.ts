import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, importJWK, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import type { Config } from '../../../core/config/config.ts';
import { createOrganization } from '../../kit/access.ts';
import { type ApiAnswer, type TestApi, testApi, testClock } from '../../kit/api.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';

/** Bearer tokens of a real issuer on loopback: its metadata, its key set, its signatures. */

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

let engine: TestEngine;
let issuer: Server;
let issuerUrl: string;
let api: TestApi;
let rsa: Pair;
let ec: Pair;
let stranger: Pair;
/** What the issuer does with a request, and how many it had. */
let answers: 'well' | 'garbage' | 'never' | 'other issuer' = 'well';
let asked: string[] = [];

/** The key set of jose reads the time of the machine: so does this test. */
const clock = testClock(Math.floor(Date.now() / 1_000));
const AUDIENCE = 'settlement-index';

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await insertSettlements(engine.writer, [settlement({})]);
  await reportChain(engine.writer, BASE);
  [rsa, ec, stranger] = [
    await generateKeyPair('RS256', { extractable: true }),
    await generateKeyPair('ES256', { extractable: true }),
    await generateKeyPair('RS256', { extractable: true }),
  ];
  const keys = [
    { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' },
    { ...(await exportJWK(ec.publicKey)), kid: 'ec', alg: 'ES256' },
    // Says nothing of the algorithm: ours is the only list.
    { ...(await exportJWK(rsa.publicKey)), kid: 'any' },
  ];
  issuer = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (answers === 'never') return;
    if (answers === 'garbage') return void response.end('<html>');
    if (request.url === '/.well-known/openid-configuration') return void response.writeHead(404).end();
    const named = answers === 'other issuer' ? 'https://evil.example' : issuerUrl;
    const body =
      request.url === '/.well-known/oauth-authorization-server'
        ? { issuer: named, jwks_uri: `${issuerUrl}/keys` }
        : { keys };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`; // listens on TCP
  api = await apiWith();
});
beforeEach(() => {
  answers = 'well';
  asked = [];
});
afterAll(async () => {
  await api?.close();
  issuer?.closeAllConnections();
  issuer?.close();
});

function apiWith(oauth: Partial<Config['oauth']> = {}): Promise<TestApi> {
  return testApi(engine.reader, {
    clock,
    config: {
      oauth: { issuer: issuerUrl, audience: AUDIENCE, jwksUrl: null, organizationClaim: 'org', ...oauth },
    },
  });
}

interface Wish {
  readonly claims?: JWTPayload;
  readonly header?: { readonly alg?: string; readonly kid?: string };
  readonly key?: Pair['privateKey'] | Uint8Array;
  readonly without?: 'exp' | 'sub';
}

const nowSeconds = () => Math.floor(clock.nowMs() / 1_000);

function token({ claims = {}, header = {}, key = rsa.privateKey, without }: Wish = {}): Promise<string> {
  const payload: JWTPayload = {
    iss: issuerUrl,
    aud: AUDIENCE,
    sub: 'agent-7',
    exp: nowSeconds() + 300,
    ...claims,
  };
  if (without !== undefined) delete payload[without];
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'rsa', ...header }).sign(key);
}

const ask = (text: string, from = api): Promise<ApiAnswer> =>
  from.get('/v0/flows', { authorization: `Bearer ${text}` });

describe('a good token', () => {
  test('passes where any key does, whatever the key type, and its keys are fetched once', async () => {
    const fresh = await apiWith();
    const texts = [
      await token(),
      await token({ header: { alg: 'ES256', kid: 'ec' }, key: ec.privateKey }),
      await token(),
    ];
    const statuses = [];
    for (const text of texts) statuses.push((await ask(text, fresh)).status);
    const viaKeyHeader = await fresh.get('/v0/flows', { authorization: '', 'x-api-key': await token() });
    await fresh.close();
    expect([...statuses, viaKeyHeader.status]).toEqual([200, 200, 200, 200]);
    expect(asked).toEqual([
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/keys',
    ]);
  });

  test('spends the units of the organization that it names, when there is one', async () => {
    const { store } = api.access.access;
    const organizationId = await createOrganization(store, { units: 1 });
    const graph = async (org: string) =>
      (
        await api.get('/v0/graph?days=1', {
          authorization: `Bearer ${await token({ claims: { org } })}`,
        })
      ).status;
    expect([await graph(organizationId), await graph(organizationId), await graph('org_nobody')]).toEqual([
      200, 402, 402,
    ]);
    expect(await store.units.balance(organizationId)).toMatchObject({ spent: 1, held: 0 });
  });

  test('may be half a minute late, for clocks that differ', async () => {
    expect((await ask(await token({ claims: { exp: nowSeconds() - 25 } }))).status).toBe(200);
  });
});

describe('401', () => {
  const forged: [string, () => Promise<string>][] = [
    ['another audience', () => token({ claims: { aud: 'another-audience' } })],
    ['another issuer', () => token({ claims: { iss: 'https://evil.example' } })],
    ['expired', () => token({ claims: { exp: nowSeconds() - 60 } })],
    ['not valid yet', () => token({ claims: { nbf: nowSeconds() + 60 } })],
    ['without an end', () => token({ without: 'exp' })],
    ['without a subject', () => token({ without: 'sub' })],
    ['signed by a stranger under a known key id', () => token({ key: stranger.privateKey })],
    ['an unknown key id', () => token({ header: { kid: 'unknown' }, key: stranger.privateKey })],
    ['alg none', unsigned],
    ['HS256 with the public key as the secret', signedWithThePublicKey],
    ['an algorithm that is not on the list', signedWithRs512],
    ['altered after signing', async () => (await token()).replace(/\.(.)/, '.A$1')],
    ['no token at all', async () => 'a.b.c'],
    ['longer than any token', async () => `a.${'b'.repeat(9_000)}.c`],
  ];

  test.each(forged)('%s', async (_what, make) => {
    await ask(await token());
    asked = [];
    const answer = await ask(await make());
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 401,
      code: 'invalid_api_key',
    });
    // An unknown key id may ask for newer keys, but not again and again.
    expect(asked).toEqual([]);
  });

  test('any token, where no issuer is configured', async () => {
    const closed = await apiWith({ issuer: null });
    const { status } = await ask(await token(), closed);
    await closed.close();
    expect(status).toBe(401);
  });

  test('a text that begins like a key is shown to no issuer', async () => {
    const fresh = await apiWith();
    const { status } = await ask('six_live_a.b.c', fresh);
    await fresh.close();
    expect({ status, asked }).toEqual({ status: 401, asked: [] });
  });
});

describe('503', () => {
  test.each(['garbage', 'other issuer'] as const)(
    'an issuer with %s is named, not the token',
    async (how) => {
      answers = how;
      const fresh = await apiWith();
      const first = await ask(await token(), fresh);
      const asks = asked.length;
      const second = await ask(await token(), fresh);
      expect(first.body).toMatchObject({ code: 'upstream_unavailable', resource: 'identity_provider' });
      expect({ first: first.status, second: second.status, more: asked.length - asks }).toEqual({
        first: 503,
        second: 503,
        more: 0,
      });
      answers = 'well';
      clock.advanceSeconds(6);
      const third = await ask(await token(), fresh);
      await fresh.close();
      expect(third.status).toBe(200);
    },
  );

  test('a key set that cannot be reached says nothing of its address', async () => {
    const unreachable = await apiWith({ jwksUrl: 'http://127.0.0.1:9/secret-path' });
    const { status, text } = await ask(await token(), unreachable);
    const keyed = await unreachable.get('/v0/flows');
    await unreachable.close();
    expect({ status, keyed: keyed.status }).toEqual({ status: 503, keyed: 200 });
    expect(text).not.toMatch(/secret-path|127\.0\.0\.1/);
  });

  test('an issuer that never answers holds a caller for a bounded time', async () => {
    answers = 'never';
    const slow = await apiWith({ jwksUrl: `${issuerUrl}/keys` });
    const startedMs = performance.now();
    const { status } = await ask(await token(), slow);
    const tookMs = performance.now() - startedMs;
    await slow.close();
    expect(status).toBe(503);
    expect(tookMs).toBeLessThan(10_000);
  });
});

async function unsigned(): Promise<string> {
  const [, payload] = (await token()).split('.');
  const header = Buffer.from(JSON.stringify({ alg: 'none', kid: 'rsa' })).toString('base64url');
  return `${header}.${payload}.AA`;
}

async function signedWithThePublicKey(): Promise<string> {
  const secret = new TextEncoder().encode(await exportSPKI(rsa.publicKey));
  return token({ header: { alg: 'HS256' }, key: secret });
}

async function signedWithRs512(): Promise<string> {
  const key = await importJWK(await exportJWK(rsa.privateKey), 'RS512');
  return token({ header: { alg: 'RS512', kid: 'any' }, key });
}
