import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { walletOf } from '../../../demo/chain/sender.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { addKey, createOrganization } from '../../kit/access.ts';
import { ANONYMOUS, type ApiAnswer, type TestApi, testApi, testClock } from '../../kit/api.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';
import {
  jsonReply,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from '../../kit/scripted-facilitator.ts';
import { sellingThrough } from '../../kit/selling.ts';
import { until } from '../../kit/service.ts';
import { pay } from '../../kit/x402-world.ts';

/** Every lane over HTTP: the real application, engine, store and payment lane; the facilitator says what a test tells it. */

let engine: TestEngine;
let facilitator: ScriptedFacilitator;
let api: TestApi;
let store: ControlStore;
/** What the engine answers with, so that a test can break it. */
let engineFails = false;
let askedBefore = 0;

const clock = testClock(Math.floor(Date.now() / 1_000));
const payer = walletOf('payer of the lanes test');

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await insertSettlements(
    engine.writer,
    Array.from({ length: 3 }, (_, logIndex) => settlement({ logIndex })),
  );
  await reportChain(engine.writer, BASE);
  facilitator = await startScriptedFacilitator();
  const reader: typeof engine.reader = {
    ...engine.reader,
    rows: (statement, signal) =>
      // Whether the index can be read is asked before a payment is taken; what fails here comes after it.
      engineFails && statement.name !== 'ready'
        ? Promise.reject(new TypeError('a bug'))
        : engine.reader.rows(statement, signal),
  };
  api = await testApi(reader, { clock, config: sellingThrough(facilitator.url) });
  store = api.access.access.store;
});
beforeEach(() => {
  engineFails = false;
  askedBefore = facilitator.calls.length;
});
afterAll(async () => {
  await api?.close();
  await facilitator?.stop();
});

const TRANSACTION = `0x${'5e'.repeat(32)}`;

/** From now on payments are good and settle. */
function facilitatorWorks(): void {
  facilitator.onVerify = () => jsonReply({ isValid: true, payer: payer.address });
  facilitator.onSettle = ({ body }) => {
    const { paymentRequirements } = JSON.parse(body) as { paymentRequirements: { network: string } }; // sent by us
    return jsonReply({
      success: true,
      transaction: TRANSACTION,
      network: paymentRequirements.network,
      payer: payer.address,
    });
  };
}

/** What the facilitator was asked in this test. */
const asked = () => facilitator.calls.slice(askedBefore).map(({ path }) => path);
const settlements = () => asked().filter((path) => path === '/settle').length;

/** A signed payment for what this path costs, as the header that carries it. */
async function paymentFor(path: string, x402Version: 1 | 2 = 1): Promise<Record<string, string>> {
  const { headers, body } = await api.get(path, ANONYMOUS);
  const offer = { accepts: body.accepts, requiredHeader: headers['payment-required'] ?? '' };
  const { header } = await pay(offer, payer, x402Version);
  return { ...ANONYMOUS, [x402Version === 1 ? 'x-payment' : 'payment-signature']: header };
}

/** Something to wait at until a test lets everybody through. */
function gateOfATest(): { readonly released: Promise<void>; release(): void } {
  let open = () => {};
  const released = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { released, release: () => open() };
}

const told = ({ status, body }: ApiAnswer) => ({ status, code: body?.code });
const flows = '/v0/flows?limit=2';

describe('402', () => {
  test('payment_required offers both wire versions, is never kept, and has the headers of every answer', async () => {
    const answer = await api.get(flows, ANONYMOUS);
    expect(told(answer)).toEqual({ status: 402, code: 'payment_required' });
    expect(answer.body).toMatchObject({
      x402Version: 1,
      error: 'X-PAYMENT header is required',
      accepts: [
        {
          scheme: 'exact',
          network: 'base-sepolia',
          maxAmountRequired: '1000',
          resource: expect.stringMatching(/^http:\/\/localhost(:\d+)?\/v0\/flows\?limit=2$/),
        },
      ],
    });
    const required = decodePaymentRequiredHeader(answer.headers['payment-required'] ?? '');
    expect(required).toMatchObject({
      x402Version: 2,
      accepts: [{ network: 'eip155:84532', amount: '1000' }],
    });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'retry-after': '5',
      'content-type': 'application/problem+json; charset=utf-8',
      'x-request-id': expect.any(String),
      ratelimit: expect.any(String),
      vary: expect.stringMatching(/X-PAYMENT, PAYMENT-SIGNATURE/),
    });
  });

  test('the resource is built from a plain Host and from nothing else', async () => {
    const resourceFor = async (host: string) =>
      (await api.get(flows, { ...ANONYMOUS, host })).body.accepts[0].resource;
    expect(await resourceFor('index.example:8402')).toBe('http://index.example:8402/v0/flows?limit=2');
    expect(await resourceFor('[::1]:80')).toBe('http://[::1]/v0/flows?limit=2');
    expect(await resourceFor('evil.example/x?y=')).toBe('http://localhost/v0/flows?limit=2');
  });

  test('HEAD shows the price and takes no payment', async () => {
    facilitatorWorks();
    const headers = await paymentFor(flows);
    const answer = await api.app.inject({ method: 'HEAD', url: flows, headers });
    expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 402, body: '' });
    expect(answer.headers['payment-required']).toBeDefined();
    expect(asked()).toEqual([]);
  });

  test('payment_malformed says where it failed and offers again', async () => {
    const answer = await api.get(flows, { ...ANONYMOUS, 'x-payment': 'nonsense' });
    expect(told(answer)).toEqual({ status: 402, code: 'payment_malformed' });
    expect(answer.body).toMatchObject({ stage: 'input', retryable: false, accepts: [{ scheme: 'exact' }] });
    expect(asked()).toEqual([]);
  });

  test('a trial key on a metered route, and an organization without units, get the offer', async () => {
    const trial = await addKey(store, { kind: 'trial' });
    const poor = await addKey(store, { organizationId: await createOrganization(store) });
    const [forTrial, forPoor] = [
      await api.get('/v0/graph?days=1', { 'x-api-key': trial }),
      await api.get('/v0/graph?days=1', { 'x-api-key': poor }),
    ];
    expect([told(forTrial), told(forPoor)]).toEqual([
      { status: 402, code: 'payment_required' },
      { status: 402, code: 'insufficient_qu' },
    ]);
    for (const { body, headers } of [forTrial, forPoor]) {
      expect(body.accepts[0].maxAmountRequired).toBe('5000');
      expect(headers['payment-required']).toBeDefined();
    }
    expect((await api.get(flows, { 'x-api-key': trial })).status).toBe(200);
  });
});

describe('200', () => {
  test('a key works in either header, and a metered answer costs its price once', async () => {
    const organizationId = await createOrganization(store, { units: 2 });
    const key = await addKey(store, { organizationId });
    const statuses = [
      await api.get('/v0/graph?days=1', { authorization: `Bearer ${key}` }),
      await api.get('/v0/graph?days=1', { 'x-api-key': key }),
      await api.get('/v0/graph?days=1', { 'x-api-key': key }),
      await api.get('/v0/graph?days=0', { 'x-api-key': key }),
      await api.get('/v0/graph?days=1&window=5', { 'x-api-key': key }),
      await api.get(flows, { 'x-api-key': key }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 402, 400, 400, 200]);
    expect(await store.units.balance(organizationId)).toMatchObject({ balance: 0, held: 0, spent: 2 });
  });

  test.each([1, 2] as const)(
    'x402 version %i pays, once, with a receipt in both headers',
    async (version) => {
      facilitatorWorks();
      const headers = await paymentFor(flows, version);
      const answer = await api.get(flows, headers);
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body.flows).toHaveLength(2);
      const receipt = answer.headers['payment-response'] ?? '';
      expect(answer.headers['x-payment-response']).toBe(receipt);
      expect(decodePaymentResponseHeader(receipt)).toMatchObject({ success: true, transaction: TRANSACTION });
      const again = await api.get(flows, headers);
      expect(told(again)).toEqual({ status: 402, code: 'payment_invalid' });
      expect(again.body).toMatchObject({ stage: 'verify', retryable: false });
      expect(settlements()).toBe(1);
    },
  );

  test('a call that was paid for is answered in full, whatever tag the caller names; a free one is not', async () => {
    facilitatorWorks();
    const first = await api.get(flows);
    for (const tag of [first.headers['etag'] ?? '', '*']) {
      expect((await api.get(flows, { ...api.keyed, 'if-none-match': tag })).status).toBe(304);
      const paid = await api.get(flows, { ...(await paymentFor(flows)), 'if-none-match': tag });
      expect(paid.status).toBe(200);
      expect(paid.body.flows).toHaveLength(2);
    }
  });

  test('a call that was charged units is answered in full, whatever tag the caller names', async () => {
    const organizationId = await createOrganization(store, { units: 3 });
    const key = { 'x-api-key': await addKey(store, { organizationId }) };
    const graph = '/v0/graph?days=1';
    const { headers } = await api.get(graph, key);
    for (const tag of [headers['etag'] ?? '', '*']) {
      const again = await api.get(graph, { ...key, 'if-none-match': tag });
      expect(again.status).toBe(200);
      expect(again.body.nodes).toBeDefined();
      expect(again.headers['etag']).toBe(headers['etag']);
    }
    expect(await store.units.balance(organizationId)).toMatchObject({ balance: 0, spent: 3 });
  });

  test('an empty header of the one name hides no payment of the other', async () => {
    facilitatorWorks();
    const headers = await paymentFor(flows, 1);
    expect((await api.get(flows, { ...headers, 'payment-signature': '' })).status).toBe(200);
  });

  test('402 of stage fee: the facilitator could not take its own, and the same payment is good later', async () => {
    facilitatorWorks();
    const headers = await paymentFor(flows);
    facilitator.onVerify = () => jsonReply({ isValid: false, invalidReason: 'fee_leg_failed' });
    const refused = await api.get(flows, headers);
    expect(told(refused)).toEqual({ status: 402, code: 'payment_invalid' });
    expect(refused.body).toMatchObject({ stage: 'fee', reason: 'fee_leg_failed', retryable: true });
    expect(settlements()).toBe(0);
    facilitatorWorks();
    expect((await api.get(flows, headers)).status).toBe(200);
  });

  test('the same request with its parameters in another order is the one that was paid for, another is not', async () => {
    facilitatorWorks();
    const headers = await paymentFor('/v0/flows?limit=2&finality=any');
    engineFails = true;
    expect((await api.get('/v0/flows?limit=2&finality=any', headers)).status).toBe(500);
    engineFails = false;
    expect(told(await api.get('/v0/flows?limit=3&finality=any', headers))).toMatchObject({ status: 402 });
    expect(told(await api.get('/v0/transactions?limit=2&finality=any', headers))).toMatchObject({
      status: 402,
    });
    expect((await api.get('/v0/flows?finality=any&limit=2', headers)).status).toBe(200);
    expect(settlements()).toBe(1);
  });

  test('a payment on a free route is left alone', async () => {
    facilitatorWorks();
    const headers = await paymentFor(flows);
    expect((await api.get('/v0/telemetry', headers)).status).toBe(200);
    expect(asked()).toEqual([]);
  });

  test('an open deployment serves everybody on keyed routes', async () => {
    const open = await testApi(engine.reader, {
      config: { access: { anonymous: 'open', trialKeyDays: 1, trialRequestsPerMinute: 60 } },
    });
    const answers = [await open.get(flows, ANONYMOUS), await open.get('/v0/graph?days=1', ANONYMOUS)];
    await open.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  });
});

test('400: an invalid request with a payment is refused before anybody hears of the payment', async () => {
  facilitatorWorks();
  for (const path of ['/v0/flows?before=forged', '/v0/graph?days=1&window=5', '/v0/flows?colour=red']) {
    const { header } = await pay(await offerOf(flows), payer);
    expect(told(await api.get(path, { ...ANONYMOUS, 'x-payment': header })).status).toBe(400);
  }
  expect(asked()).toEqual([]);
});

async function offerOf(path: string) {
  const { headers, body } = await api.get(path, ANONYMOUS);
  return { accepts: body.accepts, requiredHeader: headers['payment-required'] ?? '' };
}

describe('401', () => {
  test('revoked, expired, unknown and malformed keys all get the same answer', async () => {
    const organizationId = await createOrganization(store);
    const revoked = await addKey(store, { organizationId, id: `key_${organizationId}` });
    expect((await api.get(flows, { 'x-api-key': revoked })).status).toBe(200);
    await store.accounts.revokeKey({ keyId: `key_${organizationId}`, atMs: clock.nowMs() });
    const expiresAtMs = clock.nowMs() + 1_000;
    const expiring = await addKey(store, { kind: 'trial', expiresAtMs });
    expect((await api.get(flows, { 'x-api-key': expiring })).status).toBe(200);
    clock.advanceSeconds(1);
    const answers = [];
    for (const key of [revoked, expiring, `six_live_${'a'.repeat(43)}`, 'nonsense'])
      answers.push(await api.get(flows, { authorization: `Bearer ${key}` }));
    for (const answer of answers) {
      expect(told(answer)).toEqual({ status: 401, code: 'invalid_api_key' });
      expect(answer.body.detail).toBe(answers[0]?.body.detail);
      expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
      expect(answer.headers['payment-required']).toBeUndefined();
    }
  });

  test('api_key_required where calls are not sold, without an error in the challenge', async () => {
    const unsold = await testApi(engine.reader);
    const answer = await unsold.get(flows, ANONYMOUS);
    await unsold.close();
    expect(told(answer)).toEqual({ status: 401, code: 'api_key_required' });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="settlement-index"');
    expect(answer.body).not.toHaveProperty('accepts');
  });
});

test('409: the same payment is taken by one request at a time', async () => {
  facilitatorWorks();
  const settle = facilitator.onSettle;
  const { released, release } = gateOfATest();
  facilitator.onSettle = async (call, forward) => {
    await released;
    return settle(call, forward);
  };
  const headers = await paymentFor(flows);
  const first = api.get(flows, headers);
  await until('the payment is being settled', () => settlements() === 1);
  const second = await api.get(flows, headers);
  release();
  expect(told(second)).toEqual({ status: 409, code: 'payment_in_progress' });
  expect(second.body).toMatchObject({ retryable: true, retry_after: expect.any(Number) });
  expect((await first).status).toBe(200);
  expect(settlements()).toBe(1);
});

test('400: an Idempotency-Key that is too long is refused, and the call counted', async () => {
  const answer = await api.get(flows, { 'idempotency-key': 'k'.repeat(256) });
  expect(told(answer)).toEqual({ status: 400, code: 'malformed_request' });
  expect(answer.headers['ratelimit']).toBeDefined();
});

test('429: all keys of an organization and no other caller, each with its own figures', async () => {
  // Tomorrow: the address has windows of today's tests.
  const tomorrow = testClock(clock.nowMs() / 1_000 + 86_400);
  const strict = await testApi(engine.reader, { http: { requestsPerMinute: 1 }, clock: tomorrow });
  const { organizationId, access } = strict.access;
  const second = await addKey(access.store, { organizationId });
  const answers = [
    await strict.get(flows),
    await strict.get(flows, { 'x-api-key': second }),
    await strict.get('/v0/telemetry', ANONYMOUS),
    await strict.get('/v0/telemetry', ANONYMOUS),
    await strict.get('/v0/flows?limit=x', ANONYMOUS),
  ];
  await strict.close();
  expect(answers.map(({ status }) => status)).toEqual([200, 429, 200, 429, 400]);
  for (const { headers } of answers) expect(headers['x-ratelimit-remaining']).toBe('0');
  expect(answers.map(({ body }) => body.retry_after)).toEqual([undefined, 60, undefined, 60, undefined]);
});

describe('5xx', () => {
  test('503: a facilitator that does not answer is named, and nothing was charged', async () => {
    facilitator.onVerify = () => 'reset';
    const answer = await api.get(flows, await paymentFor(flows));
    expect(told(answer)).toEqual({ status: 503, code: 'upstream_unavailable' });
    expect(answer.body).toMatchObject({
      resource: 'facilitator',
      stage: 'facilitator',
      retryable: true,
      retry_after: expect.any(Number),
    });
    expect(settlements()).toBe(0);
  });

  test('502: an open outcome names the nonce, and is never settled again', async () => {
    facilitatorWorks();
    facilitator.onSettle = () => 'reset';
    const headers = await paymentFor(flows);
    const answer = await api.get(flows, headers);
    expect(told(answer)).toEqual({ status: 502, code: 'settlement_unknown' });
    expect(answer.body).toMatchObject({
      stage: 'settle',
      retryable: true,
      authorization_nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    const again = await api.get(flows, headers);
    expect(told(again)).toEqual({ status: 502, code: 'settlement_unknown' });
    expect(again.body).toMatchObject({
      stage: 'settle',
      retryable: true,
      authorization_nonce: answer.body.authorization_nonce,
      since: answer.body.since,
      retry_after: Number(again.headers['retry-after']),
    });
    expect(again.body.since).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(settlements()).toBe(1);
  });

  test('500: a paid call that fails on our side has its receipt, and is served on the second try', async () => {
    facilitatorWorks();
    const headers = await paymentFor(flows);
    engineFails = true;
    const failed = await api.get(flows, headers);
    expect(told(failed)).toEqual({ status: 500, code: 'internal_error' });
    expect(failed.body).toMatchObject({ transaction: TRANSACTION, retryable: true });
    expect(failed.body.detail).toContain('not charged twice');
    expect(failed.headers['payment-response']).toBeDefined();
    engineFails = false;
    expect((await api.get(flows, headers)).status).toBe(200);
    expect(settlements()).toBe(1);
  });

  test('a caller who leaves while the payment settles is served when he comes back', async () => {
    facilitatorWorks();
    const settle = facilitator.onSettle;
    const { released, release } = gateOfATest();
    facilitator.onSettle = async (call, forward) => {
      await released;
      return settle(call, forward);
    };
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const { header } = await pay(await offerOf(flows), payer);
    const leaving = new AbortController();
    const asked = fetch(`${url}${flows}`, { headers: { 'x-payment': header }, signal: leaving.signal });
    const left = asked.catch(() => 'left');
    await until('the payment is being settled', () => settlements() === 1);
    leaving.abort();
    expect(await left).toBe('left');
    release();
    const answered = async () => (await fetch(`${url}${flows}`, { headers: { 'x-payment': header } })).status;
    await until('the payment is free again', async () => (await answered()) === 200);
    expect(settlements()).toBe(1);
    expect(await answered()).toBe(402);
  });
});
