import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient, payWith } from '../../client/index.ts';
import type { Wallet } from '../../demo/chain/sender.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { browserIsThere } from '../kit/browser.ts';
import { ceilingClient, uptoEntries } from '../kit/ceilings.ts';
import { openPayingPage } from '../kit/paying-page.ts';
import { watchSecret } from '../kit/secrets-watch.ts';
import { waitUntil } from '../kit/wait-until.ts';
import {
  ask,
  lapseLeases,
  openOrganization,
  type PaymentsStage,
  realClient,
  type StageApi,
  sign,
  signCeiling,
  startPaymentsStage,
} from './payments-stage.ts';

/** The lanes as callers meet them: whole processes, real clients, a real facilitator, Circle's token, kill -9. */

/** Metered: 1 QU, or a payment. */
const GRAPH = '/v0/graph?window=1000&max_edges=10';

let stage: PaymentsStage;
let api: StageApi;

beforeAll(async () => {
  stage = await startPaymentsStage();
  api = await stage.startApi();
});
afterAll(() => stage?.stop());
beforeEach(() => stage.facilitator.reset());

const settleCalls = (): number => stage.facilitator.calls.filter(({ path }) => path === '/settle').length;
const merchantPath = (): string => `/v0/merchants/${stage.world.accepted.payTo}`;

async function expectPaidOnce(payer: Wallet, atoms: bigint): Promise<void> {
  expect(await stage.world.settlements(payer.address)).toBe(1);
  expect(await stage.world.balance(payer.address)).toBe(1_000_000n - atoms);
}

describe('a call that is paid over x402', () => {
  it.each([
    ['@x402/fetch in version 2', 2, '/v0/flows?limit=3'],
    ['@x402/fetch in version 1', 1, '/v0/facilitators'],
  ] as const)('is served to %s, and is a proven settlement of the index', async (_client, version, path) => {
    const payer = await stage.payer();
    const answer = await realClient(payer, version)(`${api.url}${path}`);
    expect(answer.status).toBe(200);
    await expectPaidOnce(payer, 1_000n);
    const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
    expect(answer.headers.get('x-payment-response')).toBe(answer.headers.get('payment-response'));
    expect(receipt).toMatchObject({ success: true, payer: payer.address });
    expect(receipt.network).toBe(version === 1 ? 'base-sepolia' : 'eip155:84532');
    await expectIndexed(payer, receipt.transaction, 1_000n);
  });

  it('is served for a hand-built X-PAYMENT header of version 1, once', async () => {
    const payer = await stage.payer();
    const url = `${api.url}/v0/flows?limit=2`;
    const payment = await sign(url, payer);
    expect((await ask(url, payment)).status).toBe(200);
    expect(await ask(url, payment)).toMatchObject({
      status: 402,
      body: { code: 'payment_invalid', stage: 'verify' },
    });
    await expectPaidOnce(payer, 1_000n);
  });

  it('is not served for a payment that names another path, and that one is not settled', async () => {
    const payer = await stage.payer();
    const [bought, other] = [`${api.url}/v0/flows?limit=4`, `${api.url}${merchantPath()}`];
    const payment = await sign(bought, payer, 2);
    expect(await ask(other, payment)).toMatchObject({ status: 402, body: { code: 'payment_invalid' } });
    expect(settleCalls()).toBe(0);
    expect((await ask(bought, payment)).status).toBe(200);
    await expectPaidOnce(payer, 1_000n);
  });
});

describe.skipIf(!browserIsThere())('a page of another origin', () => {
  it('pays from a browser with the official client, and reads the answer and its receipt', async () => {
    const page = await openPayingPage();
    try {
      const payer = await stage.payer();
      const answer = await page.pay(`${api.url}/v0/flows?limit=3`, payer.privateKey);
      expect(answer).toMatchObject({ status: 200, body: { flows: expect.any(Array) } });
      expect(decodePaymentResponseHeader(answer.receipt ?? '')).toMatchObject({ payer: payer.address });
      await expectPaidOnce(payer, 1_000n);
    } finally {
      await page.close();
    }
  });
});

/** The index reads what the payment left on the chain, as it reads everybody's. */
async function expectIndexed(payer: Wallet, transaction: string, atoms: bigint): Promise<void> {
  const url = `${api.url}/v0/entities/${stage.world.accepted.payTo}/settlements?limit=100`;
  const reader = await keyHolder();
  let found: Record<string, unknown> | undefined;
  await waitUntil('the payment is in the index', async () => {
    const { body } = await ask(url, reader);
    found = body.settlements?.find((row: { tx_hash: string }) => row.tx_hash === transaction);
    return found !== undefined;
  });
  expect(found).toMatchObject({ payer: payer.address, amount: String(atoms), evidence: { tier: 'proven' } });
}

/** The headers of a caller with a key of its own organization. */
async function keyHolder(units = 1): Promise<Record<string, string>> {
  return withSqlite(async (store) => ({ 'X-API-Key': (await openOrganization(store, units)).key }));
}

/** The store of the API process, opened by a second process as an operator's command does. */
async function withSqlite<Result>(use: (store: ControlStore) => Promise<Result>): Promise<Result> {
  const store = openSqliteStore({ path: join(api.dataDir, 'control.db') });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

describe('a trial key', () => {
  it('is sold once for one settlement, opens what takes any key, and buys nothing metered', async () => {
    const payer = await stage.payer();
    const url = `${api.url}/v0/test/x402`;
    const payment = await sign(url, payer, 2);
    const bought = await ask(url, payment);
    expect(bought.status).toBe(201);
    const key = { 'X-API-Key': watchSecret(bought.body.api_key as string) };
    await expectPaidOnce(payer, 10_000n);

    expect(await ask(url, payment)).toMatchObject({ status: 409, body: { code: 'key_already_issued' } });
    for (const path of ['/v0/flows', '/v0/facilitators', merchantPath()])
      expect((await ask(`${api.url}${path}`, key)).status, path).toBe(200);
    expect(await ask(`${api.url}${GRAPH}`, key)).toMatchObject({
      status: 402,
      body: { code: 'payment_required' },
    });
    expect((await ask(`${api.url}/v0/account`, key)).body).toMatchObject({ tier: 'trial', balance: null });
    await expectPaidOnce(payer, 10_000n);
  });
});

describe('a service that is killed between settlement and answer', () => {
  /** Kills the API at a moment of the settlement, starts it again later than any lease, and sends the same payment again. */
  async function killAndRepeat(url: string, headers: Record<string, string>, moment: 'before' | 'after') {
    stage.facilitator.onSettle = async (_call, forward) => {
      const reply = await forward();
      if (moment === 'before') await api.kill();
      else setTimeout(() => void api.kill(), Math.random() * 30);
      return reply;
    };
    const first = await ask(url, headers).catch(() => undefined); // the connection broke
    await waitUntil('the settlement was asked for', () => settleCalls() === 1);
    await api.kill();
    lapseLeases(api);
    await api.start();
    return { first, second: await ask(url, headers) };
  }

  it('serves the same payment after its restart without a second settlement', async () => {
    const payer = await stage.payer();
    const url = `${api.url}/v0/flows?limit=5`;
    const payment = await sign(url, payer);
    const { first, second } = await killAndRepeat(url, payment, 'before');
    expect(first).toBeUndefined();
    expect(second.status).toBe(200);
    expect(decodePaymentResponseHeader(second.headers.get('payment-response') ?? '').success).toBe(true);
    expect((await ask(url, payment)).status).toBe(402);
    await expectPaidOnce(payer, 1_000n);
    expect(settleCalls()).toBe(1);
  });

  it.each(['before', 'after'] as const)(
    'issues the key that was paid for, one (killed %s the settlement was heard of)',
    async (moment) => {
      const payer = await stage.payer();
      const url = `${api.url}/v0/test/x402`;
      const headers = { ...(await sign(url, payer)), 'Idempotency-Key': watchSecret(randomUUID()) };
      const { first, second } = await killAndRepeat(url, headers, moment);
      expect(second.status).toBe(201);
      const key = watchSecret(second.body.api_key as string);
      if (first !== undefined) expect(first.body.api_key).toBe(key);
      expect((await ask(`${api.url}/v0/flows`, { 'X-API-Key': key })).status).toBe(200);
      await expectPaidOnce(payer, 10_000n);
      expect(settleCalls()).toBe(1);
    },
  );
});

/** A service that has just started may not have heard from the facilitator yet. */
async function ceilingsOffered(url: string, posted: object): Promise<void> {
  await waitUntil('ceilings are offered', async () => {
    const { headers } = await ask(url, {}, posted);
    return uptoEntries({ requiredHeader: headers.get('payment-required') ?? '' }).length > 0;
  });
}

describe('SQL that is paid by its use', () => {
  const QUERY = { sql: 'SELECT count() AS settlements FROM settlements' };
  const UNIT_ATOMS = 10_000n;
  const sqlUrl = (): string => `${api.url}/v0/sql`;

  beforeEach(() => ceilingsOffered(sqlUrl(), QUERY));

  async function expectTaken(payer: Wallet, atoms: bigint): Promise<void> {
    expect(await stage.world.balance(payer.address)).toBe(1_000_000n - atoms);
  }

  it('is served to the real client for one unit of the three it may cost, and is a proven settlement of the index', async () => {
    const payer = await stage.world.ceilingPayer();
    const pay = wrapFetchWithPayment(fetch, ceilingClient(payer));
    const headers = { 'content-type': 'application/json' };
    const answer = await pay(sqlUrl(), { method: 'POST', headers, body: JSON.stringify(QUERY) });
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { rows: [{}], usage: { units_charged: 1, units_held: 3 } },
    ]);
    const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, payer: payer.address, amount: String(UNIT_ATOMS) });
    await expectTaken(payer, UNIT_ATOMS);
    await expectIndexed(payer, receipt.transaction, UNIT_ATOMS);
  });

  it('signs the budget as its ceiling, and what was used of it is taken', async () => {
    const payer = await stage.world.ceilingPayer();
    const posted = { ...QUERY, max_qu: 2 };
    const { headers } = await ask(sqlUrl(), {}, posted);
    const entries = uptoEntries({ requiredHeader: headers.get('payment-required') ?? '' });
    expect(entries.map(({ amount }) => amount)).toEqual(['20000']);
    const answer = await ask(sqlUrl(), await signCeiling(sqlUrl(), payer, posted), posted);
    expect(answer).toMatchObject({ status: 200, body: { usage: { units_charged: 1, units_held: 2 } } });
    await expectTaken(payer, UNIT_ATOMS);
  });

  it('takes nothing for a query that fails before it read a row', async () => {
    const payer = await stage.world.ceilingPayer();
    const posted = { sql: 'SELECT sum(number) FROM numbers(10000000000)' };
    const failed = await ask(sqlUrl(), await signCeiling(sqlUrl(), payer, posted), posted);
    expect(failed).toMatchObject({ status: 400, body: { code: 'query_failed', reason: 'rows_read' } });
    expect(failed.body).not.toHaveProperty('usage');
    expect(settleCalls()).toBe(0);
    await expectTaken(payer, 0n);
  });

  it('costs nothing where the query is refused, and the same payment buys the next request', async () => {
    const payer = await stage.world.ceilingPayer();
    const wrong = { sql: 'SELECT nothing FROM nowhere' };
    const payment = await signCeiling(sqlUrl(), payer, QUERY);
    expect(await ask(sqlUrl(), payment, wrong)).toMatchObject({
      status: 400,
      body: { code: 'invalid_query' },
    });
    expect(await ask(sqlUrl(), payment, { sql: 'SELECT nothing FROM settlements' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_query' },
    });
    expect(settleCalls()).toBe(0);
    expect((await ask(sqlUrl(), payment, QUERY)).status).toBe(200);
    expect((await ask(sqlUrl(), payment, QUERY)).status).toBe(402);
    await expectTaken(payer, UNIT_ATOMS);
  });
});

describe('SQL that is paid for at a fixed price', () => {
  const QUERY = { sql: 'SELECT count() AS settlements FROM settlements' };
  const sqlUrl = (): string => `${api.url}/v0/sql`;

  // A tier allows an address thirty queries a minute, which a process counts in its memory.
  beforeAll(async () => {
    await api.kill();
    await api.start();
  });

  it.each([
    [1, 1, 10_000n],
    [2, 1, 10_000n],
    [2, 2, 20_000n],
  ] as const)(
    'in version %d costs what %d units cost where the body asks for them',
    async (version, maxQu, atoms) => {
      const payer = await stage.payer();
      const posted = { ...QUERY, max_qu: maxQu };
      const answer = await realClient(payer, version)(sqlUrl(), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(posted),
      });
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { rows: [{}], usage: { units_held: maxQu, units_charged: maxQu, balance: null } },
      ]);
      await expectPaidOnce(payer, atoms);
    },
  );

  it('is bought by our own client within its cap where the budget fits into it, and else nothing is signed', async () => {
    const payer = await stage.payer();
    const signer = privateKeyToAccount(payer.privateKey);
    const client = createClient({
      url: api.url,
      payer: payWith(registerExactEvmScheme(new x402Client(), { signer })),
      maxUsd: '0.01',
    });
    await expect(client.sql(QUERY.sql)).rejects.toMatchObject({ code: 'payment_over_cap' });
    expect(client.signedUsd()).toBe('0');
    const { usage } = await client.sql(QUERY.sql, { maxQu: 1 });
    expect(usage).toMatchObject({ units_held: 1, units_charged: 1 });
    expect(client.signedUsd()).toBe('0.01');
    await expectPaidOnce(payer, 10_000n);
  });

  it('costs the whole tier where the body asks for nothing', async () => {
    const { body } = await ask(sqlUrl(), {}, QUERY);
    expect(body.accepts).toMatchObject([{ scheme: 'exact', maxAmountRequired: '30000' }]);
  });

  it('is not served for a payment of a smaller budget', async () => {
    const payer = await stage.payer();
    for (const version of [1, 2] as const) {
      const payment = await sign(sqlUrl(), payer, version, { ...QUERY, max_qu: 1 });
      for (const dearer of [QUERY, { ...QUERY, max_qu: 2 }])
        expect(await ask(sqlUrl(), payment, dearer)).toMatchObject({
          status: 402,
          body: { code: 'payment_invalid' },
        });
    }
    expect(settleCalls()).toBe(0);
  });

  it.each([
    ['an unknown column', { code: 'invalid_query' }, 'SELECT nothing FROM settlements'],
    ['a type', { code: 'invalid_query', reason: 'type_error' }, 'SELECT payer + 1 FROM settlements'],
    ['a value', { code: 'query_failed', reason: 'value_error' }, "SELECT toUInt8('x') FROM settlements"],
    [
      'rows to read',
      { code: 'query_failed', reason: 'rows_read' },
      'SELECT sum(number) FROM numbers(10000000000)',
    ],
  ])('is refused before it is paid for where planning it fails: %s', async (_what, wanted, sql) => {
    const payer = await stage.payer();
    const posted = { sql, max_qu: 1 };
    const payment = await sign(sqlUrl(), payer, 2, posted);
    expect(await ask(sqlUrl(), payment, posted)).toMatchObject({
      status: 400,
      body: wanted,
    });
    expect(settleCalls()).toBe(0);
    expect(await stage.world.balance(payer.address)).toBe(1_000_000n);
  });
});
