import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usdNumber } from '../../../../core/domain/amount.ts';
import { DEFAULT_PLANS, type PlanId } from '../../../../core/domain/plan.ts';
import { getAccount } from '../../../../src/operations/account/declare.ts';
import { PRICE_LIST } from '../../../../src/operations/index.ts';
import { addKey, createOrganization } from '../../../kit/access.ts';
import { complaints } from '../../../kit/answer-schema.ts';
import { type OwnApi, ownApi } from '../../../kit/own-api.ts';

/** `/v0/account` for every kind of caller, over a real store and without an index. */

interface Issuer {
  readonly url: string;
  token(claims: Record<string, unknown>): Promise<string>;
  close(): void;
}

let api: OwnApi;
let issuer: Issuer;

beforeAll(async () => {
  issuer = await startIssuer();
  const oauth = {
    issuer: issuer.url,
    audience: 'settlement-index',
    jwksUrl: `${issuer.url}/keys`,
    organizationClaim: 'organization',
  };
  api = await ownApi({ config: { oauth } });
});
afterAll(async () => {
  await api?.close();
  issuer?.close();
});

async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
  const server: Server = createServer((_request, reply) => {
    reply.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    token: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(url)
        .setAudience('settlement-index')
        .setSubject('someone')
        .setExpirationTime(new Date('2099-01-01T00:00:00Z'))
        .sign(privateKey),
    close: () => server.close(),
  };
}

/** The answer, which is always 200, never stored, and exactly what the schema declares. */
async function account(headers: Record<string, string> = {}, from: OwnApi = api) {
  const answer = await from.app.inject({ method: 'GET', url: '/v0/account', headers });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  const body = answer.json();
  expect(complaints(getAccount.wire.output, body)).toEqual([]);
  expect('balance_note' in body).toBe(body.balance === null);
  return body;
}

const withKey = (key: string) => ({ 'x-api-key': key });

describe('a caller without an organization', () => {
  test('without a key is anonymous, on the x402 lane', async () => {
    expect(await account()).toMatchObject({
      authenticated: false,
      key_present: false,
      key_recognised: null,
      tier: 'anonymous',
      plan: null,
      lane: 'x402',
      organisation: null,
      balance: null,
      balance_note: expect.stringMatching(/^No credential was sent/),
      own_tables: null,
      top_up_url: '/plans',
      as_of: '2026-11-20T12:00:00Z',
    });
  });

  test('with an unknown, a revoked or an expired key learns that the key has no account', async () => {
    const { store } = api;
    const revoked = await addKey(store, { kind: 'trial', revokedAtMs: 1 });
    const expired = await addKey(store, { kind: 'trial', expiresAtMs: api.clock.nowMs() });
    for (const key of ['nope', revoked, expired])
      expect(await account(withKey(key))).toMatchObject({
        authenticated: false,
        key_present: true,
        key_recognised: false,
        tier: 'anonymous',
        plan: null,
        lane: 'invalid_key',
        organisation: null,
        balance: null,
        balance_note: expect.stringMatching(/does not resolve/),
        summary: expect.stringMatching(/other routes refuse it/),
      });
  });

  test('with a trial key holds no balance by design', async () => {
    const key = await addKey(api.store, { kind: 'trial' });
    expect(await account(withKey(key))).toMatchObject({
      authenticated: true,
      key_recognised: true,
      tier: 'trial',
      plan: null,
      lane: 'x402',
      organisation: null,
      balance: null,
      balance_note: expect.stringMatching(/^A trial key holds no balance by design/),
    });
  });

  test('with a token that names no organization here is on the tier oauth, without a balance', async () => {
    for (const claims of [{}, { organization: 'org_of_another_house' }])
      expect(await account({ authorization: `Bearer ${await issuer.token(claims)}` })).toMatchObject({
        authenticated: true,
        key_recognised: true,
        tier: 'oauth',
        plan: null,
        lane: 'x402',
        organisation: null,
        balance: null,
        balance_note: expect.stringMatching(/names no organization/),
      });
  });

  test('every null balance says that it is no zero, each in its own words', async () => {
    const trial = await addKey(api.store, { kind: 'trial' });
    const token = await issuer.token({});
    const notes = [];
    for (const headers of [{}, withKey('nope'), withKey(trial), { authorization: `Bearer ${token}` }])
      notes.push((await account(headers)).balance_note);
    expect(new Set(notes).size).toBe(4);
    for (const note of notes) expect(note).toContain('not a zero balance');
  });
});

describe('a caller with an organization', () => {
  test.each(['free', 'pro', 'enterprise'] as const)(
    'a key of plan %s has its tier and its SQL tiers',
    async (plan: PlanId) => {
      const organizationId = await createOrganization(api.store, { plan, units: 7 });
      const body = await account(withKey(await addKey(api.store, { organizationId })));
      expect(body).toMatchObject({
        authenticated: true,
        key_present: true,
        key_recognised: true,
        tier: plan,
        plan,
        lane: 'credit',
        organisation: { id: organizationId, display_name: 'Acme' },
      });
      const tiers: { tier: string; allowed: boolean; available: boolean; note: string }[] = body.sql_tiers;
      expect(tiers.filter(({ allowed }) => allowed).map(({ tier }) => tier)).toEqual(
        DEFAULT_PLANS[plan].sqlTiers,
      );
      for (const { allowed, available, note } of tiers) {
        expect(available).toBe(true);
        expect(note).toEqual(allowed ? null : expect.stringContaining('Not allowed'));
      }
    },
  );

  test('a token that names it spends its units, on the tier oauth', async () => {
    const organization = await createOrganization(api.store, { plan: 'pro', units: 5_000 });
    expect(await account({ authorization: `Bearer ${await issuer.token({ organization })}` })).toMatchObject({
      tier: 'oauth',
      plan: 'pro',
      own_tables: { tables_max: 5, bytes_max: 25_000_000 },
      lane: 'credit',
      organisation: { id: organization },
      balance: { available_qu: 5_000, low_balance_threshold_qu: 1_000, low_balance: false },
    });
  });

  test('the balance is low at the threshold of its plan and below, and held units are not free', async () => {
    const threshold = DEFAULT_PLANS.free.lowBalanceQu;
    const organizationId = await createOrganization(api.store, { units: threshold + 1 });
    const headers = withKey(await addKey(api.store, { organizationId }));
    const balance = { low_balance_threshold_qu: threshold };
    expect((await account(headers)).balance).toEqual({
      ...balance,
      available_qu: threshold + 1,
      low_balance: false,
    });
    await api.store.units.hold({
      organizationId,
      holdId: 'one',
      units: 1,
      operation: 'getGraph',
      heldAtMs: 0,
      overdueAtMs: 1,
    });
    expect((await account(headers)).balance).toEqual({
      ...balance,
      available_qu: threshold,
      low_balance: true,
    });
  });

  test('an organization that was never granted anything has a zero, which is no null', async () => {
    const organizationId = await createOrganization(api.store);
    const body = await account(withKey(await addKey(api.store, { organizationId })));
    expect(body.balance).toMatchObject({ available_qu: 0, low_balance: true });
  });

  test('top_up_url names the organization and leads to a page that says how', async () => {
    const organizationId = await createOrganization(api.store);
    const { top_up_url: url } = await account(withKey(await addKey(api.store, { organizationId })));
    expect(url).toBe(`/plans?organization=${organizationId}#top-up`);
    const page = await api.app.inject({ method: 'GET', url: url.split('#')[0] });
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('id="top-up"');
  });
});

describe('an organization that cannot be read', () => {
  test('leaves a valid key without a balance, and promises nothing of a plan', async () => {
    const damaged = await ownApi();
    try {
      const organizationId = await createOrganization(damaged.store, { plan: 'enterprise' });
      const headers = withKey(await addKey(damaged.store, { organizationId }));
      const db = new Database(damaged.file);
      db.exec('PRAGMA foreign_keys = OFF');
      db.exec('DELETE FROM organization');
      db.close();
      expect(await account(headers, damaged)).toMatchObject({
        authenticated: true,
        key_recognised: true,
        tier: 'free',
        plan: null,
        organisation: null,
        balance: null,
        balance_note: expect.stringMatching(/row of its organization could not be read.*not a zero balance/),
      });
    } finally {
      await damaged.close();
    }
  });

  test('is a 503 when the store does not answer, for a caller with a key only', async () => {
    const dead = await ownApi();
    try {
      const organizationId = await createOrganization(dead.store);
      const key = await addKey(dead.store, { organizationId });
      await dead.store.close();
      // Rates are counted in the same store: without it no call is answered.
      const answer = await dead.app.inject({ method: 'GET', url: '/v0/account', headers: withKey(key) });
      expect(answer.json()).toMatchObject({
        status: 503,
        code: 'upstream_unavailable',
        resource: 'accounts',
      });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    } finally {
      await dead.close();
    }
  });
});

describe('prices', () => {
  /** What a unit costs on each lane, and how many there may be. */
  const SQL_RANGE = {
    unit: 'started 5 seconds of engine work',
    qu: { min: 1, max: 60, per_unit: 1 },
    x402_usd: { min: 0.01, max: 0.03, per_unit: 0.01 },
  };
  /** The longest run that a call waits for, and the highest price of an author. */
  const SAVED_QUERY_RANGE = {
    unit: 'Query Unit that the query may cost, with those of its author',
    qu: { min: 1, max: 10_060, per_unit: 1 },
    x402_usd: { min: 0.01, max: 100.6, per_unit: 0.01 },
  };
  /** Jobs are not sold over x402. */
  const JOB_RANGE = { ...SQL_RANGE, qu: { min: 1, max: 180, per_unit: 1 }, x402_usd: null };
  const RANGES: Readonly<Record<string, object>> = {
    runSql: SQL_RANGE,
    createSqlJob: JOB_RANGE,
    callSavedQuery: SAVED_QUERY_RANGE,
  };

  test('every operation is listed with its price on both lanes, free ones at zero, what units cannot buy at null', async () => {
    const { metered_routes: routes } = await account();
    expect(routes).toEqual(
      PRICE_LIST.map(({ id, method, path, price }) => ({
        operation: id,
        method,
        path,
        qu: price.qu,
        x402_usd: usdNumber(price.x402UsdMicros),
        range: RANGES[id] ?? null,
      })),
    );
    expect(routes).toContainEqual({
      operation: 'getAccount',
      method: 'GET',
      path: '/account',
      qu: 0,
      x402_usd: 0,
      range: null,
    });
    expect(routes).toContainEqual({
      operation: 'mintTrialKey',
      method: 'GET',
      path: '/test/x402',
      qu: null,
      x402_usd: 0.01,
      range: null,
    });
  });

  test('a deployment that sells no calls says so, and offers no SQL to callers without an organization', async () => {
    const { summary, sql_tiers: tiers } = await account();
    expect(summary).toMatch(/does not sell single calls/);
    expect(tiers.some(({ allowed }: { allowed: boolean }) => allowed)).toBe(false);
  });

  test('a deployment that sells calls says so, and offers the first SQL tier call by call', async () => {
    const selling = await ownApi({ sells: true });
    try {
      const { summary, sql_tiers: tiers } = await account({}, selling);
      expect(summary).toMatch(/paid for call by call over x402/);
      expect(tiers.map(({ allowed }: { allowed: boolean }) => allowed)).toEqual([true, false, false]);
    } finally {
      await selling.close();
    }
  });
});
