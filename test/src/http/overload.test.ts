import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { createLog } from '../../../core/log.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { createAdmission } from '../../../src/gate/admission.ts';
import { createGate } from '../../../src/gate/call.ts';
import type { Gate } from '../../../src/gate/gate.ts';
import { buildApp } from '../../../src/http/app.ts';
import { createRefusalPace } from '../../../src/http/pace-refusals.ts';
import { installLoadShedding } from '../../../src/http/shed-load.ts';
import { addKey, createOrganization, ownTestStore } from '../../kit/access.ts';
import { CURSOR_KEYS, testClock } from '../../kit/api.ts';
import { CLOSED_SANDBOX } from '../../kit/closed-sandbox.ts';
import { openHandedLane, pricedOperation } from '../../kit/gate.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** No call of these tests reads or changes an account. */
const unused = () => Promise.reject(new Error('none'));
const UNUSED = {
  tables: { list: unused, put: unused, remove: unused },
  issueTrialKey: unused,
  usage: unused,
  queries: unused,
  forgetQueries: unused,
  saved: {
    handleOf: unused,
    claimHandle: unused,
    save: unused,
    find: unused,
    findByHandle: unused,
    list: unused,
    ownerOf: unused,
    versions: unused,
    listings: unused,
    remove: unused,
    refreshes: unused,
  },
  boards: { find: unused, list: unused, save: unused, remove: unused },
  keys: { list: unused, events: unused, make: unused, change: unused, endOf: unused, revoke: unused },
};

/** A service with one place for reads and an engine that answers no statement until its caller leaves. */

let store: ControlStore;
let close: () => Promise<void>;
let app: FastifyInstance;
let gate: Gate;
let url: string;
let keyed: Record<string, string>;
let looksAtAccounts = 0;
const statements: AbortSignal[] = [];

const HANGS: Reader = {
  rows: (_statement, signal) =>
    new Promise((_resolve, reject) => {
      if (signal === undefined) throw new Error('a statement of a request without its signal');
      statements.push(signal);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    }),
  ping: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
const ONE = { all: 1, heavy: 1, waitingMax: 0, waitingMaxPerCaller: 0, waitMaxMs: 0, retryAfterSeconds: 2 };

beforeAll(async () => {
  ({ store, close } = ownTestStore());
  keyed = {
    'x-api-key': await addKey(store, { organizationId: await createOrganization(store, { units: 5 }) }),
  };
  const config = loadConfig({ env: { CHAINS: 'base' } });
  const log = createLog('silent', 'test');
  const clock = testClock();
  const counting: ControlStore = {
    ...store,
    accounts: {
      ...store.accounts,
      findKey: (digest) => {
        looksAtAccounts += 1;
        return store.accounts.findKey(digest);
      },
    },
  };
  const lane = openHandedLane();
  gate = createGate({
    store: counting,
    lane,
    bearer: null,
    plans: config.plans,
    access: { ...config.access, requestsPerMinute: 1_000 },
    clock,
    log,
    limits: { admission: createAdmission({ reads: ONE, queries: ONE }) },
  });
  const reads = pricedOperation('keyed', async (_input, { reader }) => {
    await reader.rows({ name: 'hangs', sql: sql`SELECT 1`, maxSeconds: 60, maxRows: 1 });
    return {};
  });
  app = buildApp({
    config,
    reader: HANGS,
    sandbox: CLOSED_SANDBOX,
    cursorKeys: CURSOR_KEYS,
    gate,
    accounts: {
      balance: () => Promise.resolve(null),
      ...UNUSED,
    },
    sellsCalls: true,
    termsOf: null,
    log,
    clock,
    version: '9.9.9',
    operations: [reads],
    resources: [],
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await app.close();
  await close();
});

/** Takes the place, as a caller who can leave. */
async function occupy(): Promise<{ leave(): Promise<void> }> {
  const leaving = new AbortController();
  const before = statements.length;
  const request = fetch(`${url}/v0/things`, { headers: keyed, signal: leaving.signal }).catch(() => 'left');
  await waitUntil('the engine was asked', () => statements.length === before + 1);
  return {
    async leave() {
      leaving.abort();
      await request;
      await waitUntil('the place is free', () => gate.reads().running === 0);
    },
  };
}

test('while the place is taken, the next request is refused before its key is looked up, and health is answered', async () => {
  const busy = await occupy();
  const looks = looksAtAccounts;
  const asked = statements.length;
  for (const headers of [keyed, { 'x-api-key': `six_live_${'A'.repeat(43)}` }]) {
    const refused = await fetch(`${url}/v0/things`, { headers });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await refused.json()).toMatchObject({
      code: 'overloaded',
      instance: '/v0/things',
      retry_after: 2,
    });
  }
  expect(looksAtAccounts).toBe(looks);
  expect(statements.length).toBe(asked);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await busy.leave();
});

test('a caller who leaves stops the statement of the engine and gives the place to the next', async () => {
  const first = await occupy();
  const statement = statements.at(-1);
  await first.leave();
  expect(statement?.aborted).toBe(true);
  await (await occupy()).leave();
});

test('an offer and a call that carries a payment are not refused unread', async () => {
  const busy = await occupy();
  const offer = await fetch(`${url}/v0/things`);
  expect(offer.status).toBe(402);
  const looks = looksAtAccounts;
  // The gate refuses it before the payment is taken: it has read the request and looked at the key.
  const paying = await fetch(`${url}/v0/things`, { headers: { ...keyed, 'x-payment': READABLE } });
  expect(looksAtAccounts).toBe(looks + 1);
  expect(paying.status).toBe(503);
  const unread = await fetch(`${url}/v0/things`, { headers: { ...keyed, 'x-payment': 'abc' } });
  expect([unread.status, looksAtAccounts]).toEqual([503, looks + 1]);
  await busy.leave();
});

/** A payment of the right form, with nothing else true in it. */
const READABLE = btoa(
  JSON.stringify({
    ...{ x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
    payload: {
      signature: `0x${'12'.repeat(65)}`,
      authorization: {
        ...{ from: `0x${'ab'.repeat(20)}`, to: `0x${'cd'.repeat(20)}`, nonce: `0x${'ef'.repeat(32)}` },
        ...{ value: '1', validAfter: '0', validBefore: '9' },
      },
    },
  }),
);

describe('shedding by the event loop', () => {
  const plain: FastifyInstance[] = [];
  afterEach(() => Promise.all(plain.splice(0).map((one) => one.close())));

  test('a read that the loop reached too late is refused; what needs no engine, or carries a payment, is not', async () => {
    const { default: Fastify } = await import('fastify');
    const late = Fastify();
    plain.push(late);
    installLoadShedding(late, { lateMs: () => 501 });
    const operation = pricedOperation('free');
    late.get('/read', { config: { operation } }, async () => 'read');
    late.get('/account', { config: { operation: { ...operation, load: 'none' } } }, async () => 'account');
    late.get('/healthz', async () => 'up');
    const statusOf = async (path: string, headers = {}): Promise<number> =>
      (await late.inject({ url: path, headers })).statusCode;
    expect(await statusOf('/read')).toBe(503);
    expect(await statusOf('/read', { 'payment-signature': READABLE })).toBe(200);
    for (const unreadable of ['abc', '', btoa('{"x402Version":1}')])
      expect(await statusOf('/read', { 'payment-signature': unreadable, 'x-payment': unreadable })).toBe(503);
    expect(await statusOf('/account')).toBe(200);
    expect(await statusOf('/healthz')).toBe(200);
  });

  test('one long turn of the loop refuses nothing, long turns for two seconds do', async () => {
    const { default: Fastify } = await import('fastify');
    const busy = Fastify();
    plain.push(busy);
    installLoadShedding(busy);
    busy.get('/read', { config: { operation: pricedOperation('free') } }, async () => 'read');
    await busy.ready();
    const statusOf = async (): Promise<number> => (await busy.inject('/read')).statusCode;
    const work = (): void => {
      for (const until = performance.now() + 650; performance.now() < until; );
    };
    work();
    expect(await statusOf()).toBe(200);
    for (let turn = 0; turn < 5; turn++) {
      work();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    work();
    expect(await statusOf()).toBe(503);
  });
});

describe('the pace of refusals', () => {
  afterEach(() => void vi.useRealTimers());

  test('a caller that repeats too early too often is answered later, and no other caller is', () => {
    vi.useFakeTimers();
    const pace = createRefusalPace({ earlyMax: 1, heldMs: 1_000, heldMax: 1, callersMax: 10 });
    const answered: string[] = [];
    const come = (key: string): void =>
      pace.whenDue(
        { headers: { 'x-api-key': key } } as unknown as Parameters<typeof pace.whenDue>[0],
        2,
        () => answered.push(key),
      );
    for (const key of ['a', 'a', 'a', 'b']) come(key);
    expect(answered).toEqual(['a', 'a', 'b']);
    come('a'); // one is held: more than `heldMax` leave at once
    expect(answered).toEqual(['a', 'a', 'b', 'a']);
    vi.advanceTimersByTime(1_000);
    expect(answered).toHaveLength(5);
    vi.advanceTimersByTime(1_000); // two seconds after the first refusal, as it said
    come('a');
    expect(answered).toHaveLength(6);
  });
});
