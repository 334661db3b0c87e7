import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { wrapFetchWithPayment } from '@x402/fetch';
import Database from 'libsql';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { address } from '../../../core/domain/address.ts';
import { PAYMENT_STAGES } from '../../../core/domain/payment.ts';
import { ERRORS, Failure } from '../../../core/errors.ts';
import { callBareTransfer } from '../../../demo/chain/payments.ts';
import type { Wallet } from '../../../demo/chain/sender.ts';
import type { PaymentStore } from '../../../src/accounts/payment-store.ts';
import { openSqliteStore } from '../../../src/accounts/sqlite/store.ts';
import { type ControlStore, StoreUnavailable } from '../../../src/accounts/store.ts';
import { noConfirmer, openConfirmers } from '../../../src/payment/confirm.ts';
import { createHttpFacilitator } from '../../../src/payment/facilitator.ts';
import { createPaymentLane } from '../../../src/payment/lane.ts';
import type { OpenCall, Order, PaymentLane, SettledCall } from '../../../src/payment/payment-lane.ts';
import { resolveUnsettled } from '../../../src/payment/settle.ts';
import { permit2NonceId } from '../../../src/payment/signed-payment.ts';
import { createUptoSigners } from '../../../src/payment/upto-signers.ts';
import {
  type CeilingWish,
  ceilingClient,
  payCeiling,
  type SentCeiling,
  uptoEntries,
} from '../../kit/ceilings.ts';
import {
  jsonReply,
  type Script,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from '../../kit/scripted-facilitator.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { keepingLog, orderOf, signatures, startX402World, type X402World } from '../../kit/x402-world.ts';

/**
 * Ceilings (`upto`) on a real chain with Circle's token and Permit2's double, a real facilitator, the real client and a real
 * SQLite store. Between the lane and the facilitator stands a scripted one, which is the real one until a test says otherwise.
 */

/** The most that SQL costs over x402: 3 units of 0.01 USD. */
const CEILING = 30_000n;
const UNIT = 10_000n;
const GRANT = 1_000_000n;
const SHORT_TIMEOUT_MS = 2_000;
const LEASE_MS = 60_000;
const SETTLED_TOPIC = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6';

let world: X402World;
let between: ScriptedFacilitator;
/** Two handles on one SQLite file, as two processes have them. */
const directory = mkdtempSync(join(tmpdir(), 'settlement-index-ceiling-'));
let control: ControlStore;
let otherControl: ControlStore;
/** Milliseconds by which the lane's clock is ahead. */
let ahead = 0;
const clock = { nowMs: () => Date.now() + ahead };
const { log, lines } = keepingLog();
const failures: string[] = [];

beforeAll(async () => {
  world = await startX402World();
  between = await startScriptedFacilitator(world.facilitator.url);
  control = openSqliteStore({ path: join(directory, 'control.db') });
  await control.ping();
  otherControl = openSqliteStore({ path: join(directory, 'control.db') });
});
afterEach(async () => {
  ahead = 0;
  await between.reset();
});
afterAll(async () => {
  await between?.stop();
  await control?.close();
  await otherControl?.close();
  rmSync(directory, { recursive: true, force: true });
  await world?.stop();
});

interface LaneOptions {
  readonly store?: ControlStore;
  readonly payments?: PaymentStore;
  readonly timeoutMs?: number;
  readonly confirmed?: boolean;
}

async function laneWith(options: LaneOptions = {}): Promise<PaymentLane> {
  const { store = control, timeoutMs = 8_000, confirmed = true } = options;
  const facilitator = createHttpFacilitator({ url: between.url, headers: {}, settleTimeoutMs: timeoutMs });
  const uptoSigners = createUptoSigners({ facilitator, clock, log });
  await uptoSigners.refresh();
  // A connection that the test before left hanging may have been tried first.
  if (uptoSigners.offered(world.accepted.chain) === null) await uptoSigners.refresh();
  return createPaymentLane({
    config: { accept: [world.accepted], offerSeconds: 60, settleTimeoutSeconds: 10 },
    store: { payments: options.payments ?? store.payments, replies: store.replies },
    facilitator,
    uptoSigners,
    confirmerFor: confirmed ? confirmerFor() : () => noConfirmer,
    clock,
    log,
    limits: { confirmWaitMs: 300, confirmPollMs: 20, servingLeaseMs: LEASE_MS },
  });
}

function confirmerFor() {
  return openConfirmers({ accept: [world.accepted], confirmOnChain: true });
}

const sqlOrder = (change: Partial<Order> = {}): Order =>
  orderOf({ resource: 'POST /v0/sql', priceUsdMicros: CEILING, settledByUse: true, ...change });

async function scene(wish: CeilingWish = {}, options: LaneOptions = {}) {
  const [lane, payer, order] = [await laneWith(options), await world.ceilingPayer(), sqlOrder()];
  return { lane, payer, order, payment: await payCeiling(lane.offer(order), payer, wish) };
}

async function open(lane: PaymentLane, order: Order, { header }: SentCeiling): Promise<OpenCall> {
  const paid = await lane.take({ order, header });
  if (paid.kind !== 'open') throw new Error('a ceiling is settled before its call ran');
  return paid;
}

async function again(lane: PaymentLane, order: Order, { header }: SentCeiling): Promise<SettledCall> {
  const paid = await lane.take({ order, header });
  if (paid.kind !== 'settled') throw new Error('a payment that settled is open');
  return paid;
}

/** The failure that the lane answers with; its code and its stage must give one advice whether to retry. */
async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const outcome = await call.then(
    () => 'went on',
    (error: unknown) => error,
  );
  if (!(outcome instanceof Failure)) throw new Error('not a failure of the catalogue', { cause: outcome });
  const { code, context, message } = outcome;
  failures.push(JSON.stringify([message, context, String(context.cause)]));
  const stage = context.payment?.stage;
  if (stage === undefined) throw new Error(`${code} does not say its stage`);
  expect(PAYMENT_STAGES[stage].retryable).toBe(ERRORS[code].retryable);
  return outcome;
}

function summary({ code, context: { payment } }: Failure) {
  return { code, stage: payment?.stage, reason: payment?.reason };
}

const nonceOf = ({ payload }: SentCeiling): bigint => BigInt(payload.permit2Authorization.nonce);

function recordOf(payer: Wallet, payment: SentCeiling) {
  const { chain, token } = world.accepted;
  const nonce = permit2NonceId(nonceOf(payment));
  return control.payments.find({ chain, asset: token.address, payer: payer.address, nonce });
}

const paidBy = async (payer: Wallet): Promise<bigint> => GRANT - (await world.balance(payer.address));
const callsOf = (path: string): number => between.calls.filter((call) => call.path === path).length;

interface Receipt {
  readonly status: string;
  readonly from: string;
  readonly logs: readonly {
    readonly address: string;
    readonly topics: readonly string[];
    readonly data: string;
  }[];
}

function receiptOf(transaction: string): Promise<Receipt> {
  return world.chain.rpc.call<Receipt>('eth_getTransactionReceipt', transaction);
}

describe('an offer of a call whose price is a ceiling', () => {
  test('has a ceiling in version 2 after the fixed price, bound to our facilitator, and none in version 1', async () => {
    const offer = (await laneWith()).offer(sqlOrder());
    const { accepts } = decodePaymentRequiredHeader(offer.requiredHeader);
    expect(accepts.map(({ scheme, amount }) => [scheme, amount])).toEqual([
      ['exact', '30000'],
      ['upto', '30000'],
    ]);
    expect(String(accepts[1]?.extra['facilitatorAddress']).toLowerCase()).toBe(world.relayer);
    expect(accepts[1]?.extra).toMatchObject({ assetTransferMethod: 'permit2', name: 'USDC', version: '2' });
    expect(offer.accepts.map(({ scheme }) => scheme)).toEqual(['exact']);
  });

  test('has none where the price is fixed, and none while the facilitator does not tell its address', async () => {
    expect(uptoEntries((await laneWith()).offer(sqlOrder({ settledByUse: false })))).toEqual([]);
    between.onSupported = () => jsonReply({ error: 'busy' }, 503);
    expect(uptoEntries((await laneWith()).offer(sqlOrder()))).toEqual([]);
    const kinds = [{ x402Version: 2, scheme: 'upto', network: 'eip155:84532' }];
    between.onSupported = () => jsonReply({ kinds, extensions: [], signers: {} });
    expect(uptoEntries((await laneWith()).offer(sqlOrder()))).toEqual([]);
  });
});

describe('a ceiling that is in order', () => {
  test.each([1n, 2n, 3n])(
    'is settled by the real client’s call for %i of 3 units, once, and answers one request',
    async (units) => {
      const payer = await world.ceilingPayer();
      const shop = await startShop(await laneWith(), UNIT * units);
      try {
        const response = await wrapFetchWithPayment(fetch, ceilingClient(payer))(shop.url);
        expect([response.status, await response.text()]).toEqual([200, 'rows']);
        const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
        expect(receipt).toMatchObject({
          success: true,
          network: 'eip155:84532',
          payer: payer.address,
          amount: String(UNIT * units),
        });
        const { status, from, logs } = await receiptOf(receipt.transaction);
        expect([status, from]).toEqual(['0x1', world.relayer]);
        expect(logs.map(({ topics }) => topics[0])).toContain(SETTLED_TOPIC);
        const transfer = logs.find(
          (log) => log.address === world.accepted.token.address && log.topics.length === 3,
        );
        expect(BigInt(transfer?.data ?? 0)).toBe(UNIT * units);
        expect(await paidBy(payer)).toBe(UNIT * units);
        expect([callsOf('/verify'), callsOf('/settle')]).toEqual([1, 1]);
      } finally {
        await shop.stop();
      }
    },
  );

  test('moves nothing while its call runs, is recorded with what was settled, and is used up by one answer', async () => {
    const { lane, payer, order, payment } = await scene();
    const call = await open(lane, order, payment);
    expect([await paidBy(payer), await recordOf(payer, payment)]).toEqual([0n, null]);
    const paid = await call.settle(UNIT);
    expect(paid.usdMicros).toBe(UNIT);
    expect(await recordOf(payer, payment)).toMatchObject({
      amount: '10000',
      state: 'serving',
      transaction: paid.payment.transaction,
    });
    await paid.finish(true);
    expect(summary(await failureOf(again(lane, order, payment)))).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'permit2_invalid_nonce',
    });
    expect(await paidBy(payer)).toBe(UNIT);
    expect(callsOf('/settle')).toBe(1);
  });

  test('whose answer does not leave is served again without a second settlement, and for what was settled', async () => {
    const { lane, payer, order, payment } = await scene();
    const first = await (await open(lane, order, payment)).settle(2n * UNIT);
    await first.finish(false);
    const second = await again(lane, order, payment);
    expect(second.payment).toEqual(first.payment);
    expect(second.usdMicros).toBe(2n * UNIT);
    await second.finish(true);
    expect(await paidBy(payer)).toBe(2n * UNIT);
    expect(callsOf('/settle')).toBe(1);
  });

  test('is free again when its call cost nothing, also for another request', async () => {
    const { lane, payer, order, payment } = await scene();
    await (await open(lane, order, payment)).drop();
    expect([callsOf('/settle'), await paidBy(payer)]).toEqual([0, 0n]);
    const other = sqlOrder({ url: order.url });
    await (await (await open(lane, other, payment)).settle(UNIT)).finish(true);
    expect(await paidBy(payer)).toBe(UNIT);
  });

  test.each([0n, -1n, CEILING + 1n])('is never settled for %i millionths of a dollar', async (usdMicros) => {
    const { lane, payer, order, payment } = await scene();
    await expect((await open(lane, order, payment)).settle(usdMicros)).rejects.toThrow(RangeError);
    expect([callsOf('/settle'), await paidBy(payer), await recordOf(payer, payment)]).toEqual([0, 0n, null]);
  });

  test('is taken on the facilitator’s word where there is no chain to ask', async () => {
    const { lane, payer, order, payment } = await scene({}, { confirmed: false });
    await (await (await open(lane, order, payment)).settle(UNIT)).finish(true);
    expect(await paidBy(payer)).toBe(UNIT);
  });
});

describe('what is refused before anything runs', () => {
  const elsewhere = `0x${'12'.repeat(20)}`;
  const extra = (change: object): CeilingWish => ({
    signs: (entry) => ({ extra: { ...entry.extra, ...change } }),
  });
  const permit = (change: object): CeilingWish => ({
    sends: ({ permit2Authorization }) => ({ permit2Authorization: { ...permit2Authorization, ...change } }),
  });
  const rows: [string, CeilingWish, string, string, boolean][] = [
    ['a lower ceiling', { signs: () => ({ amount: '29999' }) }, 'permit2_amount_mismatch', 'verify', false],
    ['a higher ceiling', { signs: () => ({ amount: '30001' }) }, 'permit2_amount_mismatch', 'verify', false],
    [
      'a ceiling raised after signing',
      {
        signs: () => ({ amount: '1' }),
        ...permit({ permitted: { token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', amount: '30000' } }),
      },
      'invalid_permit2_signature',
      'signature',
      true,
    ],
    [
      'another payee',
      { signs: () => ({ payTo: elsewhere }) },
      'invalid_permit2_recipient_mismatch',
      'verify',
      false,
    ],
    [
      'another token',
      permit({ permitted: { token: elsewhere, amount: '30000' } }),
      'permit2_token_mismatch',
      'verify',
      false,
    ],
    [
      'another facilitator',
      extra({ facilitatorAddress: elsewhere }),
      'upto_facilitator_mismatch',
      'verify',
      false,
    ],
    ['another spender', permit({ spender: elsewhere }), 'invalid_permit2_spender', 'verify', false],
    [
      'a deadline before the call may end',
      { signs: () => ({ maxTimeoutSeconds: 60 }) },
      'permit2_deadline_expired',
      'verify',
      false,
    ],
    [
      'a start in the future',
      {
        sends: ({ permit2Authorization: one }) => ({
          permit2Authorization: { ...one, witness: { ...one.witness, validAfter: '9999999999' } },
        }),
      },
      'permit2_not_yet_valid',
      'verify',
      false,
    ],
    [
      'accepted terms of an older price',
      { accepted: { amount: '20000' } },
      'invalid_payment_requirements',
      'verify',
      false,
    ],
    [
      'a chain that is not sold',
      { accepted: { network: 'eip155:8453' } },
      'invalid_network',
      'verify',
      false,
    ],
  ];
  test.each(rows)('%s', async (_what, wish, reason, stage, asked) => {
    const { lane, payer, order, payment } = await scene(wish);
    const failure = await failureOf(open(lane, order, payment));
    expect(summary(failure)).toEqual({ code: 'payment_invalid', stage, reason });
    expect(uptoEntries(failure.context.offer ?? { requiredHeader: '' })).toHaveLength(1);
    expect(callsOf('/verify')).toBe(asked ? 1 : 0);
    expect(await paidBy(payer)).toBe(0n);
  });

  test('a payer who has not approved Permit2 is told to', async () => {
    const [lane, payer, order] = [await laneWith(), await world.payer(), sqlOrder()];
    const failure = await failureOf(open(lane, order, await payCeiling(lane.offer(order), payer)));
    expect(summary(failure)).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'permit2_allowance_required',
    });
    expect(failure.message + failure.context.detail).toContain('0x000000000022d473030f116ddee9f6b43ac78ba3');
  });

  test('a ceiling for a call of a fixed price', async () => {
    const { lane, order, payment } = await scene();
    const failure = await failureOf(open(lane, { ...order, settledByUse: false }, payment));
    expect(summary(failure)).toMatchObject({ code: 'payment_invalid', reason: 'unsupported_scheme' });
  });

  test('any ceiling while nobody knows whether its facilitator is ours: it may be sent again later', async () => {
    const { order, payment, payer } = await scene();
    between.onSupported = () => 'reset';
    const failure = await failureOf(open(await laneWith(), order, payment));
    expect(summary(failure)).toMatchObject({ code: 'upstream_unavailable', stage: 'facilitator' });
    await between.reset();
    await (await open(await laneWith(), order, payment)).drop();
    expect(await paidBy(payer)).toBe(0n);
  });
});

describe('one ceiling sent many times', () => {
  test('at once to two processes runs one call, settles once and answers once', async () => {
    const { payer, order, payment } = await scene();
    const lanes = [await laneWith(), await laneWith({ store: otherControl })];
    let refused = 0;
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        try {
          const call = await open(lanes[index % 2] ?? (await laneWith()), order, payment);
          await waitUntil('every other request was answered', () => refused === 19);
          await (await call.settle(UNIT)).finish(true);
          return 'served';
        } catch (error) {
          refused += 1;
          return (await failureOf(Promise.reject(error))).code;
        }
      }),
    );
    expect(outcomes.toSorted()).toEqual([...Array(19).fill('payment_in_progress'), 'served']);
    expect([await paidBy(payer), callsOf('/settle')]).toEqual([UNIT, 1]);
  });

  test('again after the first call was taken for dead, which it was not, settles once and answers one of the two', async () => {
    const { lane, payer, order, payment } = await scene();
    const slow = await open(lane, order, payment);
    const survivor = await laneWith({ store: otherControl });
    expect((await failureOf(open(survivor, order, payment))).code).toBe('payment_in_progress');
    lapseHolds();
    const quick = await open(survivor, order, payment);
    const [paid, late] = [await quick.settle(UNIT), await failureOf(slow.settle(3n * UNIT))];
    expect(late.code).toBe('payment_in_progress');
    await paid.finish(true);
    expect([await paidBy(payer), callsOf('/settle')]).toEqual([UNIT, 1]);
  });
});

describe('a settlement after the run', () => {
  test('that fails because the payer moved the money charges nothing, and nothing may be answered', async () => {
    const { lane, payer, order, payment } = await scene();
    const call = await open(lane, order, payment);
    const data = callBareTransfer(address(`0x${'77'.repeat(20)}`), GRANT);
    await world.chain.sender.send({ from: payer.address, to: world.accepted.token.address, data });
    await waitUntil('the payer is broke', async () => (await world.balance(payer.address)) === 0n);
    expect(summary(await failureOf(call.settle(UNIT)))).toMatchObject({
      code: 'payment_failed',
      stage: 'settle',
    });
    expect(await recordOf(payer, payment)).toBeNull();
  });

  test('that finds the payer to have settled less by himself answers nothing, now and later', async () => {
    const { lane, payer, order, payment } = await scene();
    const call = await open(lane, order, payment);
    await settleByHand(payment, '1');
    expect(await paidBy(payer)).toBe(1n);
    const failure = await failureOf(call.settle(UNIT));
    expect(summary(failure)).toMatchObject({ code: 'payment_failed', stage: 'settle' });
    expect(failure.context.detail).not.toContain('Nothing was charged');
    expect(await recordOf(payer, payment)).toBeNull();
    expect((await failureOf(open(lane, order, payment))).code).toBe('payment_invalid');
  });

  test('that the facilitator cannot be asked for charges nothing, and the same payment is taken once it is back', async () => {
    const { lane, payer, order, payment } = await scene();
    const call = await open(lane, order, payment);
    await between.stop();
    expect(summary(await failureOf(call.settle(UNIT)))).toMatchObject({
      code: 'upstream_unavailable',
      stage: 'facilitator',
    });
    expect(await recordOf(payer, payment)).toBeNull();
    await between.reset();
    await (await (await open(lane, order, payment)).settle(2n * UNIT)).finish(true);
    expect(await paidBy(payer)).toBe(2n * UNIT);
  });

  const settledButSilent: [string, Script][] = [
    ['never answers', async (_call, forward) => forward().then(() => 'hang' as const)],
    ['breaks the connection', async (_call, forward) => forward().then(() => 'reset' as const)],
    ['answers garbage', async (_call, forward) => forward().then(() => ({ status: 200, text: 'ok' }))],
    [
      'names another amount',
      async (_call, forward) => {
        const said = JSON.parse((await forward()).text) as object; // the facilitator's JSON
        return jsonReply({ ...said, amount: '30000' });
      },
    ],
    [
      'says that it failed',
      async (_call, forward) =>
        forward().then(() =>
          jsonReply({ success: false, errorReason: 'invalid_upto_evm_transaction_failed', transaction: '' }),
        ),
    ],
  ];
  test.each(settledButSilent)(
    'is seen on the chain and served when the facilitator %s',
    async (what, script) => {
      const timeoutMs = what === 'never answers' ? SHORT_TIMEOUT_MS : 8_000;
      const { lane, payer, order, payment } = await scene({}, { timeoutMs });
      between.onSettle = script;
      const paid = await (await open(lane, order, payment)).settle(UNIT);
      await paid.finish(true);
      expect((await receiptOf(paid.payment.transaction)).status).toBe('0x1');
      expect([await paidBy(payer), callsOf('/settle')]).toEqual([UNIT, 1]);
    },
  );

  test('of unknown outcome is not served, and served for the same payment once it is seen, without asking again', async () => {
    const { lane, payer, order, payment } = await scene();
    let settleLate: (() => Promise<unknown>) | undefined;
    between.onSettle = (_call, forward) => {
      settleLate = forward;
      return 'reset';
    };
    const failure = await failureOf((await open(lane, order, payment)).settle(UNIT));
    expect(summary(failure)).toMatchObject({ code: 'settlement_unknown', stage: 'settle' });
    expect(BigInt(failure.context.payment?.authorizationNonce ?? 0)).toBe(nonceOf(payment));
    expect((await failureOf(open(lane, order, payment))).context.payment).toEqual({
      ...failure.context.payment,
      sinceMs: expect.any(Number),
    });
    ahead = (failure.context.retryAfterSeconds ?? 0) * 1_000;
    expect((await failureOf(open(lane, order, payment))).code).toBe('settlement_unknown');
    await settleLate?.();
    const paid = await again(lane, order, payment);
    expect(paid.usdMicros).toBe(UNIT);
    await paid.finish(true);
    expect([await paidBy(payer), callsOf('/settle')]).toEqual([UNIT, 1]);
  });

  test('that the facilitator broke off in the middle stays open while it would still verify the payment', async () => {
    const { lane, payer, order, payment } = await scene();
    between.onSettle = () =>
      jsonReply({ success: false, errorReason: 'unexpected_settle_error', transaction: '' });
    const failure = await failureOf((await open(lane, order, payment)).settle(UNIT));
    expect(failure.code).toBe('settlement_unknown');
    expect(await recordOf(payer, payment)).toMatchObject({ state: 'settling', amount: '10000' });
  });

  test('of unknown outcome that the payer undercut is not served when that is seen', async () => {
    const { lane, payer, order, payment } = await scene();
    between.onSettle = () => 'reset';
    const failure = await failureOf((await open(lane, order, payment)).settle(UNIT));
    await settleByHand(payment, '9999');
    ahead = (failure.context.retryAfterSeconds ?? 0) * 1_000;
    expect((await failureOf(again(lane, order, payment))).code).toBe('payment_invalid');
    expect([await paidBy(payer), await recordOf(payer, payment)]).toEqual([9_999n, null]);
  });

  test('that never comes frees nothing before the deadline has long passed', async () => {
    const { lane, payer, order, payment } = await scene();
    between.onSettle = () => 'reset';
    await failureOf((await open(lane, order, payment)).settle(UNIT));
    const parts = { store: control, confirmerFor: confirmerFor(), clock, log };
    ahead = 300_000;
    expect((await resolveUnsettled(parts)).dropped).toBe(0);
    expect((await failureOf(open(lane, order, payment))).code).toBe('settlement_unknown');
    ahead = 500_000;
    expect(summary(await failureOf(open(lane, order, payment)))).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'permit2_deadline_expired',
    });
    expect(await recordOf(payer, payment)).toBeNull();
  });
});

describe('a process that dies', () => {
  test('while the call runs leaves a payment that may be sent again, and nothing to resolve', async () => {
    const { lane, payer, order, payment } = await scene();
    await open(lane, order, payment);
    const survivor = await laneWith({ store: otherControl });
    lapseHolds();
    await (await (await open(survivor, order, payment)).settle(UNIT)).finish(true);
    expect([await paidBy(payer), callsOf('/settle')]).toEqual([UNIT, 1]);
  });

  test('between settlement and answer leaves a payment that another process serves, without a second settlement', async () => {
    const { lane, payer, order, payment } = await scene();
    const first = await (await open(lane, order, payment)).settle(2n * UNIT);
    // Also one that has just been started and has not heard of the facilitator yet.
    between.onSupported = () => 'reset';
    const survivor = await laneWith({ store: otherControl });
    expect((await failureOf(again(survivor, order, payment))).code).toBe('payment_in_progress');
    ahead = LEASE_MS;
    const second = await again(survivor, order, payment);
    expect([second.payment, second.usdMicros]).toEqual([first.payment, 2n * UNIT]);
    await second.finish(true);
    expect([await paidBy(payer), callsOf('/settle')]).toEqual([2n * UNIT, 1]);
  });

  test.each([
    ['by the payer, who sends the payment again', false],
    ['by the sweeper', true],
  ])('between settlement and record leaves a payment that is found on the chain %s', async (_by, swept) => {
    const { payments } = control;
    const deaf: PaymentStore = {
      find: (id) => payments.find(id),
      claim: (claim) => payments.claim(claim),
      dropClaim: (id) => payments.dropClaim(id),
      leaveOpen: (left) => payments.leaveOpen(left),
      beginServing: (serving) => payments.beginServing(serving),
      finishServing: (finish) => payments.finishServing(finish),
      unresolved: (question) => payments.unresolved(question),
      issueKey: (issue) => payments.issueKey(issue),
      recordSettlement: () => Promise.reject(new StoreUnavailable('test')),
    };
    const { payer, order, payment } = await scene();
    const call = await open(await laneWith({ payments: deaf }), order, payment);
    expect(summary(await failureOf(call.settle(UNIT)))).toMatchObject({
      code: 'upstream_unavailable',
      stage: 'settle',
    });
    ahead = LEASE_MS;
    if (swept) {
      const parts = { store: { payments }, confirmerFor: confirmerFor(), clock, log };
      expect((await resolveUnsettled(parts)).settled).toBe(1);
    }
    const paid = await again(await laneWith(), order, payment);
    expect(paid.usdMicros).toBe(UNIT);
    await paid.finish(true);
    expect([await paidBy(payer), callsOf('/settle')]).toEqual([UNIT, 1]);
  });
});

test('no log line and no failure of all these tests holds a signature or a URL', () => {
  expect(signatures.length).toBeGreaterThan(25);
  const written = [...lines, ...failures].join('\n').toLowerCase();
  for (const signature of signatures) expect(written.includes(signature.toLowerCase())).toBe(false);
  for (const url of [world.chain.url, between.url]) expect(written.includes(new URL(url).host)).toBe(false);
});

/** What waiting for minutes does: whoever runs a call is taken for dead. */
function lapseHolds(): void {
  const db = new Database(join(directory, 'control.db'));
  try {
    db.exec("UPDATE reply SET lease_until_ms = 0, keep_until_ms = 0 WHERE scope = 'x402:open'");
  } finally {
    db.close();
  }
}

/** What anybody who has a signed ceiling can do: have the facilitator settle it, for less. */
async function settleByHand({ payload, accepted }: SentCeiling, amount: string): Promise<void> {
  const paymentPayload = { x402Version: 2, accepted, payload };
  const body = JSON.stringify({
    x402Version: 2,
    paymentPayload,
    paymentRequirements: { ...accepted, amount },
  });
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
