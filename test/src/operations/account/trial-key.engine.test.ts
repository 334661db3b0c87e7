import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiKey, isApiKey, keyDigest } from '../../../../core/domain/caller.ts';
import { createLog } from '../../../../core/log.ts';
import { type ControlStore, StoreUnavailable } from '../../../../src/accounts/store.ts';
import { createGate } from '../../../../src/gate/call.ts';
import { mintTrialKey } from '../../../../src/operations/account/trial-key.ts';
import { createAccounts } from '../../../../src/organizations/accounts.ts';
import type { PaymentLane, SettledCall } from '../../../../src/payment/payment-lane.ts';
import { complaints } from '../../../kit/answer-schema.ts';
import { STREAMABLE } from '../../../kit/mcp-speakers.ts';
import { type OwnApi, ownApi } from '../../../kit/own-api.ts';

/**
 * One settlement, one key. The store is real; in the place of the chain and its facilitator stands a lane that takes any text
 * for a payment that settled, and names it by that text. The real loop is test/src/payments.e2e.test.ts.
 */

const TRANSACTION = `0x${'7a'.repeat(32)}`;
const PAYER = `0x${'01'.repeat(20)}`;
const THIRTY_DAYS_MS = 30 * 86_400_000;

let api: OwnApi;
let storeIsDown = false;

beforeAll(async () => {
  api = await ownApi({
    sells: true,
    parts: ({ store }, { plans, access, http: { requestsPerMinute } }) => {
      const log = createLog('silent', 'test');
      const clock = { nowMs: () => api.clock.nowMs() };
      const secrets = [Buffer.alloc(32, 1)];
      const lane = settledLane(store);
      return {
        gate: createGate({
          store,
          lane,
          bearer: null,
          plans,
          access: { ...access, requestsPerMinute },
          clock,
          log,
        }),
        accounts: createAccounts({
          store: sometimesDown(store),
          clock,
          trialKeyDays: 30,
          secrets,
          flushUsage: () => Promise.resolve(),
          publicKey: null,
        }),
      };
    },
  });
});
afterAll(() => api?.close());

function sometimesDown(store: ControlStore): ControlStore {
  const issueKey: ControlStore['payments']['issueKey'] = (issue) =>
    storeIsDown ? Promise.reject(new StoreUnavailable(new Error('away'))) : store.payments.issueKey(issue);
  return { ...store, payments: { ...store.payments, issueKey } };
}

function settledLane({ payments }: ControlStore): PaymentLane {
  return {
    offer: () => ({ accepts: [{ scheme: 'exact' }], requiredHeader: 'b2ZmZXI=' }),
    recall: async () => null,
    take: async ({ order, header: nonce }) => {
      const id = { chain: 'eip155:8453', asset: `0x${'02'.repeat(20)}`, payer: PAYER, nonce };
      const { resource, binding } = order;
      const times = { expiresAtMs: 1, claimedAtMs: 0, leaseUntilMs: 0 };
      await payments.claim({ id, resource, binding, payTo: PAYER, amount: '10000', ...times });
      await payments.recordSettlement({ id, transaction: TRANSACTION });
      const payment = { ...id, transaction: TRANSACTION } as unknown as SettledCall['payment'];
      return {
        kind: 'settled',
        payment,
        usdMicros: 10_000n,
        sale: null,
        receiptHeader: 'cmVjZWlwdA==',
        finish: async () => undefined,
      };
    },
  };
}

async function buy(payment?: string, idempotencyKey?: string) {
  const headers = {
    ...(payment === undefined ? {} : { 'x-payment': payment }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  const answer = await api.app.inject({ method: 'GET', url: '/v0/test/x402', headers });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json(), text: answer.body };
}

test('without a payment is a 402 with the offer, also for the holder of a key', async () => {
  const { status, body, headers } = await buy();
  expect([status, body.code, body.accepts.length]).toEqual([402, 'payment_required', 1]);
  expect(headers['payment-required']).toBe('b2ZmZXI=');
});

test('a settled payment buys a key that is valid for thirty days, stored as a digest, and never cached', async () => {
  const { status, body, headers } = await buy('0xa1');
  expect(status).toBe(201);
  expect(complaints(mintTrialKey.wire.output, body)).toEqual([]);
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['payment-response']).toBe('cmVjZWlwdA==');
  expect(body).toEqual({
    api_key: expect.stringMatching(/^six_trial_/),
    tier: 'trial',
    expires_at: '2026-12-20T12:00:00Z',
    settlement: { transaction: TRANSACTION, network: 'eip155:8453', payer: PAYER },
  });
  const found = await api.store.accounts.findKey(keyDigest(body.api_key as ApiKey));
  expect(found?.key).toMatchObject({
    kind: 'trial',
    organizationId: null,
    expiresAtMs: api.clock.nowMs() + THIRTY_DAYS_MS,
  });
});

test('the same settlement never buys a second key, however often and however many ask at once', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => buy('0xa2')));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  const { status, body } = await buy('0xa2', 'an idempotency key that comes too late');
  expect([status, body.code]).toEqual([409, 'key_already_issued']);
  expect(body.detail).toContain(TRANSACTION);
});

test('with the same Idempotency-Key the same key is shown again, with another one it is not', async () => {
  const mine = 'only-its-buyer-knows-this';
  const [first, again] = [await buy('0xa3', mine), await buy('0xa3', mine)];
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(isApiKey(first.body.api_key)).toBe(true);
  expect(again.body).toEqual(first.body);
  for (const other of ['a-guess', undefined]) {
    const guessed = await buy('0xa3', other);
    expect(guessed.status).toBe(409);
    expect(guessed.text).not.toContain(first.body.api_key);
  }
  const elsewhere = await buy('0xa4', mine);
  expect(elsewhere.body.api_key).not.toBe(first.body.api_key);
});

test('an Idempotency-Key short enough to be guessed shows nothing again', async () => {
  expect((await buy('0xa5', 'fifteen-letters')).status).toBe(201);
  expect((await buy('0xa5', 'fifteen-letters')).status).toBe(409);
});

test('a revoked key is not shown again', async () => {
  const mine = 'only-its-buyer-knows-this';
  const { body } = await buy('0xa6', mine);
  const found = await api.store.accounts.findKey(keyDigest(body.api_key as ApiKey));
  await api.store.accounts.revokeKey({ keyId: found?.key.id ?? '', atMs: 1 });
  expect((await buy('0xa6', mine)).status).toBe(409);
});

test('a store that fails after the settlement is a 500 with its hash, and the same payment buys the key later', async () => {
  storeIsDown = true;
  const failed = await buy('0xa7');
  storeIsDown = false;
  expect(failed.status).toBe(500);
  expect(failed.headers['payment-response']).toBe('cmVjZWlwdA==');
  expect(failed.body).toMatchObject({
    code: 'key_issue_failed',
    transaction: TRANSACTION,
    stage: 'settle',
    retryable: true,
  });
  expect((await buy('0xa7')).status).toBe(201);
});

test('a deployment that sells nothing has no such route', async () => {
  const closed = await ownApi();
  const { statusCode } = await closed.app.inject({ method: 'GET', url: '/v0/test/x402' });
  await closed.close();
  expect(statusCode).toBe(404);
});

test('a surface that takes no payment says where it can be paid', async () => {
  const context = { surface: 'mcp', payment: null } as unknown as Parameters<
    NonNullable<typeof mintTrialKey.run>
  >[2];
  const deployment = { publicUrl: 'https://index.example' };
  const deps = { deployment } as unknown as Parameters<NonNullable<typeof mintTrialKey.run>>[1];
  await expect(mintTrialKey.run?.({}, deps, context)).rejects.toMatchObject({
    code: 'payment_required',
    message: expect.stringContaining('GET https://index.example/v0/test/x402'),
  });
});

test('over MCP the tool says where it is bought, how, for how much, and the purpose of the key', async () => {
  const answer = await api.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...STREAMABLE, host: 'localhost:8402', 'mcp-protocol-version': '2025-11-25' },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'mint_trial_key', arguments: {} },
    },
  });
  const { isError, structuredContent, content } = JSON.parse(
    /^data: (.*)$/m.exec(answer.body)?.[1] ?? answer.body,
  ).result;
  expect([isError, structuredContent.code, structuredContent.next_call]).toEqual([
    true,
    'payment_required',
    undefined,
  ]);
  const [{ text }] = content;
  expect(text).toMatch(/^Refused, payment_required: /);
  for (const part of ['GET http://localhost:8402/v0/test/x402', '0.01 USD', '402', 'accepts', 'X-PAYMENT'])
    expect(text).toContain(part);
  expect(text).toMatch(/opens every tool marked "Any key": send it as X-API-Key/);
});
