import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { wrapFetchWithPayment } from '@x402/fetch';
import { describe, expect } from 'vitest';
import { address } from '../../../core/domain/account.ts';
import { callBareTransfer } from '../../../demo/chain/payments.ts';
import { noConfirmer } from '../../../src/payment/confirm.ts';
import type { OpenCall, Order, PaymentLane } from '../../../src/payment/payment-lane.ts';
import { permit2NonceId } from '../../../src/payment/signed-payment.ts';
import {
  type CeilingWish,
  ceilingClient,
  payCeiling,
  type SentCeiling,
  uptoEntries,
} from '../../kit/ceilings.ts';
import { type LaneOptions, type LaneStage, summaryOf, test } from '../../kit/lane-stage.ts';
import { jsonReply, type Script } from '../../kit/scripted-facilitator.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { orderOf } from '../../kit/x402-world.ts';

/**
 * What a chain, its facilitator and Permit2's double make of ceilings (`upto`) that the real client signs. Everything that can go wrong
 * around one is in test/src/gate/money-table.
 */

/** The most that SQL costs over x402: 3 units of 0.01 USD. */
const CEILING = 30_000n;
const UNIT = 10_000n;
const GRANT = 1_000_000n;
const SETTLED_TOPIC = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6';

const sqlOrder = (change: Partial<Order> = {}): Order =>
  orderOf({ resource: 'POST /v0/sql', priceUsdMicros: CEILING, settledByUse: true, ...change });

async function open(lane: PaymentLane, order: Order, { header }: SentCeiling): Promise<OpenCall> {
  const paid = await lane.take({ order, header });
  if (paid.kind !== 'open') throw new Error('a ceiling is settled before its call ran');
  return paid;
}

/** A payer and a ceiling for an order of its own, and what the lane and the chain have of it. */
async function scene(stage: LaneStage, wish: CeilingWish = {}, options: LaneOptions = {}) {
  const { world, control, failureOf } = stage;
  const [lane, payer, order] = [await stage.lane(options), await world.ceilingPayer(), sqlOrder()];
  const payment = await payCeiling(lane.offer(order), payer, wish);
  const nonce = permit2NonceId(BigInt(payment.payload.permit2Authorization.nonce));
  const { chain, token } = world.accepted;
  return {
    ...{ lane, payer, order, payment },
    open: (asked = order) => open(lane, asked, payment),
    refusal: (asked = order) => failureOf(open(lane, asked, payment)),
    record: () => control.payments.find({ chain, asset: token.address, payer: payer.address, nonce }),
    paid: async () => GRANT - (await world.balance(payer.address)),
  };
}

interface Receipt {
  readonly status: string;
  readonly from: string;
  readonly logs: readonly {
    readonly address: string;
    readonly topics: readonly string[];
    readonly data: string;
  }[];
}

const receiptOf = ({ world }: LaneStage, transaction: string): Promise<Receipt> =>
  world.chain.rpc.call<Receipt>('eth_getTransactionReceipt', transaction);

describe('an offer of a call whose price is a ceiling', () => {
  test('has a ceiling in version 2 after the fixed price, bound to our facilitator, and none in version 1', async ({
    stage,
  }) => {
    const offer = (await stage.lane()).offer(sqlOrder());
    const { accepts } = decodePaymentRequiredHeader(offer.requiredHeader);
    expect(accepts.map(({ scheme, amount }) => [scheme, amount])).toEqual([
      ['exact', '30000'],
      ['upto', '30000'],
    ]);
    expect(String(accepts[1]?.extra['facilitatorAddress']).toLowerCase()).toBe(stage.world.relayer);
    expect(accepts[1]?.extra).toMatchObject({ assetTransferMethod: 'permit2', name: 'USDC', version: '2' });
    expect(offer.accepts.map(({ scheme }) => scheme)).toEqual(['exact']);
  });

  test('has none where the price is fixed, and none while the facilitator does not tell its address', async ({
    stage: { lane, between },
  }) => {
    expect(uptoEntries((await lane()).offer(sqlOrder({ settledByUse: false })))).toEqual([]);
    between.onSupported = () => jsonReply({ error: 'busy' }, 503);
    expect(uptoEntries((await lane()).offer(sqlOrder()))).toEqual([]);
    const kinds = [{ x402Version: 2, scheme: 'upto', network: 'eip155:84532' }];
    between.onSupported = () => jsonReply({ kinds, extensions: [], signers: {} });
    expect(uptoEntries((await lane()).offer(sqlOrder()))).toEqual([]);
  });
});

describe('a ceiling that is in order', () => {
  test.for([1n, 2n, 3n])(
    'is settled by the real client’s call for %i of 3 units, once, and answers one request',
    async (units, { stage }) => {
      const { world, callsOf } = stage;
      const payer = await world.ceilingPayer();
      const shop = await startShop(await stage.lane(), UNIT * units);
      try {
        const response = await wrapFetchWithPayment(fetch, ceilingClient(payer))(shop.url);
        expect([response.status, await response.text()]).toEqual([200, 'rows']);
        const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
        const settled = { network: 'eip155:84532', payer: payer.address, amount: String(UNIT * units) };
        expect(receipt).toMatchObject({ success: true, ...settled });
        const { status, from, logs } = await receiptOf(stage, receipt.transaction);
        expect([status, from]).toEqual(['0x1', world.relayer]);
        expect(logs.map(({ topics }) => topics[0])).toContain(SETTLED_TOPIC);
        const { token } = world.accepted;
        const transfer = logs.find((log) => log.address === token.address && log.topics.length === 3);
        expect(BigInt(transfer?.data ?? 0)).toBe(UNIT * units);
        expect(GRANT - (await world.balance(payer.address))).toBe(UNIT * units);
        expect([callsOf('/verify'), callsOf('/settle')]).toEqual([1, 1]);
      } finally {
        await shop.stop();
      }
    },
  );

  test('moves nothing while its call runs, is recorded with what was settled, and is used up by one answer', async ({
    stage,
  }) => {
    const { open, refusal, paid, record } = await scene(stage);
    const call = await open();
    expect([await paid(), await record()]).toEqual([0n, null]);
    const settled = await call.settle(UNIT);
    expect(settled.usdMicros).toBe(UNIT);
    const { transaction } = settled.payment;
    expect(await record()).toMatchObject({ amount: '10000', state: 'serving', transaction });
    await settled.finish(true);
    const reason = 'permit2_invalid_nonce';
    expect(summaryOf(await refusal())).toEqual({ code: 'payment_invalid', stage: 'verify', reason });
    expect([await paid(), stage.callsOf('/settle')]).toEqual([UNIT, 1]);
  });

  test('is free again when its call cost nothing, also for another request', async ({ stage }) => {
    const { order, open, paid } = await scene(stage);
    await (await open()).drop();
    expect([stage.callsOf('/settle'), await paid()]).toEqual([0, 0n]);
    await (await (await open(sqlOrder({ url: order.url }))).settle(UNIT)).finish(true);
    expect(await paid()).toBe(UNIT);
  });

  test.for([0n, -1n, CEILING + 1n])(
    'is never settled for %i millionths of a dollar',
    async (usdMicros, { stage }) => {
      const { open, paid, record } = await scene(stage);
      await expect((await open()).settle(usdMicros)).rejects.toThrow(RangeError);
      expect([stage.callsOf('/settle'), await paid(), await record()]).toEqual([0, 0n, null]);
    },
  );

  test('is taken on the facilitator’s word where there is no chain to ask', async ({ stage }) => {
    const { open, paid } = await scene(stage, {}, { confirmer: noConfirmer });
    await (await (await open()).settle(UNIT)).finish(true);
    expect(await paid()).toBe(UNIT);
  });
});

describe('refused before anything runs', () => {
  const elsewhere = `0x${'12'.repeat(20)}`;
  const raised = { token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', amount: '30000' };
  const rows: readonly [string, CeilingWish, string, string][] = [
    [
      'a ceiling raised after signing',
      {
        signs: () => ({ amount: '1' }),
        sends: ({ permit2Authorization }) => ({
          permit2Authorization: { ...permit2Authorization, permitted: raised },
        }),
      },
      'invalid_permit2_signature',
      'signature',
    ],
    [
      'another facilitator',
      { signs: ({ extra }) => ({ extra: { ...extra, facilitatorAddress: elsewhere } }) },
      'upto_facilitator_mismatch',
      'verify',
    ],
    [
      'a deadline before the call may end',
      { signs: () => ({ maxTimeoutSeconds: 60 }) },
      'permit2_deadline_expired',
      'verify',
    ],
    [
      'accepted terms of an older price',
      { accepted: { amount: '20000' } },
      'invalid_payment_requirements',
      'verify',
    ],
    ['a chain that is not sold', { accepted: { network: 'eip155:8453' } }, 'invalid_network', 'verify'],
  ];
  test.for(rows)('%s', async ([, wish, reason, at], { stage }) => {
    const { refusal, paid } = await scene(stage, wish);
    const failure = await refusal();
    expect(summaryOf(failure)).toEqual({ code: 'payment_invalid', stage: at, reason });
    expect(uptoEntries(failure.context.offer ?? { requiredHeader: '' })).toHaveLength(1);
    expect([stage.callsOf('/verify'), await paid()]).toEqual([at === 'signature' ? 1 : 0, 0n]);
  });

  test('a payer who has not approved Permit2 is asked to', async ({ stage }) => {
    const [lane, payer, order] = [await stage.lane(), await stage.world.payer(), sqlOrder()];
    const failure = await stage.failureOf(open(lane, order, await payCeiling(lane.offer(order), payer)));
    const reason = 'permit2_allowance_required';
    expect(summaryOf(failure)).toEqual({ code: 'payment_invalid', stage: 'verify', reason });
    expect(failure.message + failure.context.detail).toContain('0x000000000022d473030f116ddee9f6b43ac78ba3');
  });

  test('a ceiling for a call of a fixed price', async ({ stage }) => {
    const { order, refusal } = await scene(stage);
    const failure = await refusal({ ...order, settledByUse: false });
    expect(summaryOf(failure)).toMatchObject({ code: 'payment_invalid', reason: 'unsupported_scheme' });
  });

  test('any ceiling while it is unknown whether its facilitator is ours: it may be sent again later', async ({
    stage,
  }) => {
    const { order, payment, paid } = await scene(stage);
    stage.between.onSupported = () => 'reset';
    const failure = await stage.failureOf(open(await stage.lane(), order, payment));
    expect(summaryOf(failure)).toMatchObject({ code: 'upstream_unavailable', stage: 'facilitator' });
    await stage.between.reset();
    await (await open(await stage.lane(), order, payment)).drop();
    expect(await paid()).toBe(0n);
  });
});

describe('a settlement after the run', () => {
  test('that fails because the payer moved the money charges nothing, and nothing may be answered', async ({
    stage,
  }) => {
    const { world, failureOf } = stage;
    const { payer, open, record } = await scene(stage);
    const call = await open();
    const data = callBareTransfer(address(`0x${'77'.repeat(20)}`), GRANT);
    await world.chain.sender.send({ from: payer.address, to: world.accepted.token.address, data });
    await waitUntil('the payer is broke', async () => (await world.balance(payer.address)) === 0n);
    const failure = await failureOf(call.settle(UNIT));
    expect(summaryOf(failure)).toMatchObject({ code: 'payment_failed', stage: 'settle' });
    expect(await record()).toBeNull();
  });

  test('that finds the payer to have settled less by himself answers nothing, now and later', async ({
    stage,
  }) => {
    const { payment, open, refusal, paid, record } = await scene(stage);
    const call = await open();
    await settleByHand(stage, payment, '1');
    expect(await paid()).toBe(1n);
    const failure = await stage.failureOf(call.settle(UNIT));
    expect(summaryOf(failure)).toMatchObject({ code: 'payment_failed', stage: 'settle' });
    expect(failure.context.detail).not.toContain('Nothing was charged');
    expect(await record()).toBeNull();
    expect((await refusal()).code).toBe('payment_invalid');
  });

  const settledButSilent: readonly [string, Script][] = [
    ['never answers', async (_call, forward) => forward().then(() => 'hang' as const)],
    [
      'names another amount',
      async (_call, forward) => {
        const said = JSON.parse((await forward()).text) as object; // the facilitator's JSON
        return jsonReply({ ...said, amount: '30000' });
      },
    ],
  ];
  test.for(settledButSilent)(
    'is seen on the chain and served when the facilitator %s',
    async ([what, script], { stage }) => {
      const { open, paid } = await scene(stage, {}, what === 'never answers' ? { timeoutMs: 2_000 } : {});
      stage.between.onSettle = script;
      const settled = await (await open()).settle(UNIT);
      await settled.finish(true);
      expect((await receiptOf(stage, settled.payment.transaction)).status).toBe('0x1');
      expect([await paid(), stage.callsOf('/settle')]).toEqual([UNIT, 1]);
    },
  );

  test('of unknown outcome is served for what was settled, by a process that has not heard of the facilitator', async ({
    stage,
  }) => {
    const { order, payment, open, refusal, paid } = await scene(stage);
    let settleLate: (() => Promise<unknown>) | undefined;
    stage.between.onSettle = (_call, forward) => {
      settleLate = forward;
      return 'reset';
    };
    const failure = await stage.failureOf((await open()).settle(2n * UNIT));
    expect(summaryOf(failure)).toMatchObject({ code: 'settlement_unknown', stage: 'settle' });
    const known = { ...failure.context.payment, sinceMs: expect.any(Number) };
    expect((await refusal()).context.payment).toEqual(known);
    await settleLate?.();
    stage.between.onSupported = () => 'reset';
    const served = await (await stage.lane()).take({ order, header: payment.header });
    expect(served).toMatchObject({ kind: 'settled', usdMicros: 2n * UNIT });
    expect([await paid(), stage.callsOf('/settle')]).toEqual([2n * UNIT, 1]);
  });

  test('of unknown outcome that the payer undercut is not served when that is seen', async ({ stage }) => {
    const { payment, open, refusal, paid, record } = await scene(stage);
    stage.between.onSettle = () => 'reset';
    await stage.failureOf((await open()).settle(UNIT));
    await settleByHand(stage, payment, '9999');
    expect((await refusal()).code).toBe('payment_invalid');
    expect([await paid(), await record()]).toEqual([9_999n, null]);
  });
});

test('no log line and no failure of all these tests holds a signature or a URL', ({ stage }) => {
  const { text, secrets } = stage.told();
  expect(secrets.length).toBeGreaterThan(15);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});

/** What anybody who has a signed ceiling can do: have the facilitator settle it, for less. */
async function settleByHand(
  { world }: LaneStage,
  { payload, accepted }: SentCeiling,
  amount: string,
): Promise<void> {
  const paymentPayload = { x402Version: 2, accepted, payload };
  const paymentRequirements = { ...accepted, amount };
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${world.facilitator.url}/settle`, { method: 'POST', headers, body });
  expect(await response.json()).toMatchObject({ success: true, amount });
}

/** A server as the gate is one: offers, takes, runs, settles, answers. */
async function startShop(
  lane: PaymentLane,
  usdMicros: bigint,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const order = sqlOrder();
  const server: Server = createServer(async (request, response) => {
    const { 'payment-signature': payment } = request.headers;
    if (typeof payment !== 'string') {
      response.writeHead(402, { 'PAYMENT-REQUIRED': lane.offer(order).requiredHeader }).end('{}');
      return;
    }
    try {
      const call = await open(lane, order, { header: payment } as SentCeiling); // all that is used of it
      const paid = await call.settle(usdMicros);
      response.writeHead(200, { 'PAYMENT-RESPONSE': paid.receiptHeader }).end('rows');
      await paid.finish(true);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}/v0/sql`,
    stop: () => new Promise((closed) => server.close(() => closed())),
  };
}
