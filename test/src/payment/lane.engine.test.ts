import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { keccak256 } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Address, address, toChecksum } from '../../../core/domain/address.ts';
import { PAYMENT_STAGES } from '../../../core/domain/payment.ts';
import { ERRORS, Failure } from '../../../core/errors.ts';
import { callBareTransfer } from '../../../demo/chain/payments.ts';
import type { Wallet } from '../../../demo/chain/sender.ts';
import type { PaymentStore } from '../../../src/accounts/payment-store.ts';
import { openSqliteStore } from '../../../src/accounts/sqlite/store.ts';
import { type ControlStore, StoreUnavailable } from '../../../src/accounts/store.ts';
import { type ChainConfirmer, noConfirmer, openConfirmers } from '../../../src/payment/confirm.ts';
import { createHttpFacilitator } from '../../../src/payment/facilitator.ts';
import { createPaymentLane } from '../../../src/payment/lane.ts';
import type { LaneLimits, Order, PaymentLane } from '../../../src/payment/payment-lane.ts';
import { resolveUnsettled } from '../../../src/payment/settle.ts';
import { createUptoSigners } from '../../../src/payment/upto-signers.ts';
import { ownTestStore } from '../../kit/access.ts';
import {
  jsonReply,
  type Script,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from '../../kit/scripted-facilitator.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import {
  keepingLog,
  orderOf,
  pay,
  type SentPayment,
  signatures,
  startX402World,
  type Wish,
  type X402World,
} from '../../kit/x402-world.ts';

/**
 * The x402 lane on a real chain with Circle's token, a real facilitator and a real SQLite store. Between the lane and the
 * facilitator stands a scripted one, which is the real one until a test says otherwise.
 */

const PRICE_ATOMS = 1_000n;
const SETTLE_TIMEOUT_MS = 8_000;
const SHORT_TIMEOUT_MS = 800;
const LEASE_MS = 60_000;
/** Slot of `balanceAndBlacklistStates` in FiatTokenV2_2. */
const BALANCES_SLOT = 9n;
const UNMINED = `0x${'ab'.repeat(32)}`;

let world: X402World;
let between: ScriptedFacilitator;
/** Two handles on one SQLite file, as two processes have them. */
const directory = mkdtempSync(join(tmpdir(), 'settlement-index-payment-lane-'));
let control: ControlStore;
let otherControl: ControlStore;
/** Milliseconds by which the lane's clock is ahead. */
let ahead = 0;
const { log, lines } = keepingLog();
const failures: string[] = [];
const clock = { nowMs: () => Date.now() + ahead };

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
  readonly store?: PaymentStore;
  readonly confirmer?: ChainConfirmer;
  readonly limits?: Partial<LaneLimits>;
  readonly timeoutMs?: number;
  readonly config?: Partial<Parameters<typeof createPaymentLane>[0]['config']>;
}

function laneWith({
  store,
  confirmer,
  limits,
  config,
  timeoutMs = SETTLE_TIMEOUT_MS,
}: LaneOptions = {}): PaymentLane {
  const facilitator = createHttpFacilitator({
    url: between.url,
    headers: {},
    verifyTimeoutMs: timeoutMs,
    settleTimeoutMs: timeoutMs,
  });
  return createPaymentLane({
    config: { accept: [world.accepted], offerSeconds: 60, settleTimeoutSeconds: 10, ...config },
    store: { payments: store ?? control.payments, replies: control.replies },
    facilitator,
    uptoSigners: createUptoSigners({ facilitator, clock, log }),
    confirmerFor: confirmer === undefined ? confirmerFor() : () => confirmer,
    clock,
    log,
    limits: { confirmWaitMs: 300, confirmPollMs: 20, servingLeaseMs: LEASE_MS, ...limits },
  });
}

function confirmerFor() {
  return openConfirmers({ accept: [world.accepted], confirmOnChain: true });
}

async function take(lane: PaymentLane, order: Order, { header }: Pick<SentPayment, 'header'>) {
  const paid = await lane.take({ order, header });
  if (paid.kind === 'open') throw new Error('a payment of a fixed price is left open');
  return paid;
}

/** The failure that the lane answers with; its code and its stage must give one advice whether to retry. */
async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const outcome = await call.then(
    () => 'was served',
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

async function scene(wish: Wish = {}, version: 1 | 2 = 1, lane = laneWith(), order = orderOf()) {
  const payer = await world.payer();
  const payment = await pay(lane.offer(order), payer, version, wish);
  return { payer, payment, lane, order };
}

function idOf(payer: Wallet, { nonce }: SentPayment) {
  const { chain, token } = world.accepted;
  return { chain, asset: token.address, payer: payer.address, nonce };
}

const settleCalls = () => between.calls.filter(({ path }) => path === '/settle').length;

describe('a payment that is in order', () => {
  test.each([1, 2] as const)('in version %i is settled once and answers one request', async (version) => {
    const { payer, payment, lane, order } = await scene({}, version);
    const before = await world.balance(world.accepted.payTo);
    const paid = await take(lane, order, payment);
    expect(paid.payment).toEqual({
      ...idOf(payer, payment),
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(decodePaymentResponseHeader(paid.receiptHeader)).toEqual({
      success: true,
      transaction: paid.payment.transaction,
      network: version === 1 ? 'base-sepolia' : 'eip155:84532',
      payer: payer.address,
    });
    expect(await world.balance(world.accepted.payTo)).toBe(before + PRICE_ATOMS);
    await paid.finish(true);
    const again = await failureOf(take(lane, order, payment));
    expect(summary(again)).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'invalid_exact_evm_nonce_already_used',
    });
    expect(again.context.offer).toMatchObject({ accepts: [{ network: 'base-sepolia' }] });
    expect(await world.settlements(payer.address)).toBe(1);
    expect(settleCalls()).toBe(1);
  });

  test('whose answer does not leave is served again for the same request, without a second settlement', async () => {
    const { payer, payment, lane, order } = await scene();
    const first = await take(lane, order, payment);
    await first.finish(false);
    const second = await take(lane, order, payment);
    expect(second.payment).toEqual(first.payment);
    await second.finish(true);
    expect((await failureOf(take(lane, order, payment))).code).toBe('payment_invalid');
    expect(await world.settlements(payer.address)).toBe(1);
  });

  test('whose answers never leave is not served without end', async () => {
    const { payment, lane, order } = await scene({}, 1, laneWith({ limits: { servingAttemptsMax: 3 } }));
    for (let attempt = 0; attempt < 3; attempt++) await (await take(lane, order, payment)).finish(false);
    expect(summary(await failureOf(take(lane, order, payment)))).toMatchObject({ code: 'payment_invalid' });
  });

  test('that fails on our side as often as it is tried stays good, and is told apart from one that was served', async () => {
    const { payment, lane, order } = await scene({}, 1, laneWith({ limits: { servingAttemptsMax: 2 } }));
    for (let attempt = 0; attempt < 4; attempt++)
      await (await take(lane, order, payment)).finish(false, true);
    for (let attempt = 0; attempt < 2; attempt++) await (await take(lane, order, payment)).finish(false);
    const failure = await failureOf(take(lane, order, payment));
    expect(failure.message).toContain('no answer arrived');
  });

  test('unlocks nothing but the request that it was sent with, and only with its signature', async () => {
    const { payer, payment, lane, order } = await scene({}, 2);
    await (await take(lane, order, payment)).finish(false);
    const other = await failureOf(take(lane, orderOf({ url: order.url }), payment));
    expect(summary(other)).toMatchObject({ code: 'payment_invalid', stage: 'verify' });
    // Payer and nonce of a settled payment are public.
    const { nonce } = payment;
    const forged = await pay(lane.offer(order), payer, 2, {
      authorization: { nonce },
      signature: `0x${'11'.repeat(65)}`,
    });
    expect(summary(await failureOf(take(lane, order, forged)))).toMatchObject({ code: 'payment_invalid' });
    await (await take(lane, order, payment)).finish(true);
  });

  test('that bought a key is given to the operation again, which alone knows whether to show the key', async () => {
    const { payer, payment, lane, order } = await scene();
    const paid = await take(lane, order, payment);
    const key = {
      id: `key_${payment.nonce.slice(2, 12)}`,
      digest: payment.nonce.slice(2) as never, // any 64 hex digits
      kind: 'trial' as const,
      organizationId: null,
      label: '',
      createdAtMs: 1,
      expiresAtMs: null,
      revokedAtMs: null,
    };
    await control.payments.issueKey({ id: idOf(payer, payment), key });
    await paid.finish(true);
    const again = await take(lane, order, payment);
    expect(again.payment).toEqual(paid.payment);
    await again.finish(false);
    expect((await control.payments.find(idOf(payer, payment)))?.state).toBe('served');
  });
});

describe('what is refused before it is settled', () => {
  const seconds = (offset: number) => String(Math.floor(Date.now() / 1_000) + offset);
  type Row = [
    what: string,
    wish: () => Wish,
    reason: string | Record<1 | 2, string>,
    stage: string,
    asked: boolean,
  ];
  const rows: Row[] = [
    [
      'a text message signed in place of typed data',
      () => ({ asMessage: true }),
      'invalid_exact_evm_signature',
      'signature',
      true,
    ],
    [
      'the domain of another token signed',
      () => ({ domain: { name: 'USD Coin' } }),
      'invalid_exact_evm_signature',
      'signature',
      true,
    ],
    [
      'another chain id signed',
      () => ({ domain: { chainId: 8453 } }),
      'invalid_exact_evm_signature',
      'signature',
      true,
    ],
    [
      'an amount changed after signing',
      () => ({ authorization: { value: '1' }, sent: { value: '1000' } }),
      'invalid_exact_evm_signature',
      'signature',
      true,
    ],
    [
      'a mis-cased payee',
      () => ({ sent: { to: misCased(world.accepted.payTo) } }),
      'invalid_exact_evm_address_checksum',
      'verify',
      false,
    ],
    [
      'whole units in place of atomic ones',
      () => ({ authorization: { value: '0' } }),
      {
        1: 'invalid_exact_evm_authorization_value',
        2: 'invalid_exact_evm_payload_authorization_value_mismatch',
      },
      'verify',
      false,
    ],
    [
      'an underpayment by one atom',
      () => ({ authorization: { value: '999' } }),
      {
        1: 'invalid_exact_evm_authorization_value',
        2: 'invalid_exact_evm_payload_authorization_value_mismatch',
      },
      'verify',
      false,
    ],
    [
      'an overpayment by one atom',
      () => ({ authorization: { value: '1001' } }),
      {
        1: 'invalid_exact_evm_authorization_value',
        2: 'invalid_exact_evm_payload_authorization_value_mismatch',
      },
      'verify',
      false,
    ],
    [
      'a payment to somebody else',
      () => ({ authorization: { to: `0x${'12'.repeat(20)}` } }),
      'invalid_exact_evm_recipient_mismatch',
      'verify',
      false,
    ],
    [
      'an authorization that ended',
      () => ({ authorization: { validBefore: seconds(-10) } }),
      'invalid_exact_evm_payload_authorization_valid_before',
      'verify',
      false,
    ],
    [
      'a validBefore three seconds away',
      () => ({ authorization: { validBefore: seconds(3) } }),
      'invalid_exact_evm_payload_authorization_valid_before',
      'verify',
      false,
    ],
    [
      'an authorization that is not valid yet',
      () => ({ authorization: { validAfter: seconds(60) } }),
      'invalid_exact_evm_payload_authorization_valid_after',
      'verify',
      false,
    ],
  ];
  test.each(rows)('%s', async (_what, wish, reason, stage, asked) => {
    for (const version of [1, 2] as const) {
      const { payer, payment, lane, order } = await scene(wish(), version);
      const askedBefore = between.calls.length;
      const failure = await failureOf(take(lane, order, payment));
      const expected = typeof reason === 'string' ? reason : reason[version];
      expect(summary(failure)).toEqual({ code: 'payment_invalid', stage, reason: expected });
      expect(failure.context.offer?.accepts).toHaveLength(1);
      expect(between.calls.length - askedBefore).toBe(asked ? 1 : 0);
      expect(await world.settlements(payer.address)).toBe(0);
      expect(await control.payments.find(idOf(payer, payment))).toBeNull();
    }
  });

  test.each([
    [1, 'base'],
    [1, 'eip155:84532'],
    [2, 'eip155:8453'],
    [2, 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ] as const)('version %i on %s, a network that is not on offer', async (version, network) => {
    const { payment, lane, order } = await scene({ network }, version);
    expect(summary(await failureOf(take(lane, order, payment)))).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'invalid_network',
    });
    expect(between.calls).toHaveLength(0);
  });

  test('a chain that we sell on and the facilitator does not serve', async () => {
    const base = { ...world.accepted, chain: 'eip155:8453', slug: 'base', rpcUrls: [] } as const;
    const { payment, lane, order } = await scene({}, 2, laneWith({ config: { accept: [base] } }));
    expect(summary(await failureOf(take(lane, order, payment)))).toMatchObject({
      code: 'payment_invalid',
      stage: 'verify',
    });
  });

  test.each([
    ['of another token', { asset: `0x${'34'.repeat(20)}` }],
    ['of an older price', { amount: '999' }],
    ['of another payee', { payTo: `0x${'56'.repeat(20)}` }],
  ])('version 2 with accepted terms %s', async (_what, accepted) => {
    const { payment, lane, order } = await scene({ accepted }, 2);
    expect(summary(await failureOf(take(lane, order, payment)))).toMatchObject({
      stage: 'verify',
      reason: 'invalid_payment_requirements',
    });
  });

  test('version 2 for another resource', async () => {
    const { payment, lane, order } = await scene({ resourceUrl: 'https://api.example/v0/graph' }, 2);
    expect(summary(await failureOf(take(lane, order, payment)))).toMatchObject({
      stage: 'verify',
      reason: 'invalid_payment_requirements',
    });
  });

  test('a payer without the money', async () => {
    const { payer, payment, lane, order } = await scene();
    await empty(payer.address);
    expect(summary(await failureOf(take(lane, order, payment)))).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'invalid_exact_evm_insufficient_balance',
    });
  });

  test('a nonce that was used elsewhere', async () => {
    const { payer, payment, order } = await scene();
    const elsewhere = ownTestStore();
    onTestFinished(elsewhere.close);
    await take(laneWith({ store: elsewhere.store.payments }), order, payment);
    expect(summary(await failureOf(take(laneWith(), order, payment)))).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'invalid_exact_evm_nonce_already_used',
    });
    expect(await world.settlements(payer.address)).toBe(1);
  });

  test('a header that is no payment', async () => {
    const lane = laneWith();
    const failure = await failureOf(take(lane, orderOf(), { header: 'eyJ4NDAyVmVyc2lvbiI6MX0=' }));
    expect(summary(failure)).toEqual({ code: 'payment_malformed', stage: 'input', reason: undefined });
    expect(failure.context.offer?.accepts).toHaveLength(1);
  });
});

describe('a facilitator that cannot verify', () => {
  const rows: [string, Script | 'down'][] = [
    ['is down', 'down'],
    ['never answers', () => 'hang'],
    ['breaks the connection', () => 'reset'],
    ['answers garbage', () => ({ status: 200, text: '<html>' })],
    ['fails', () => jsonReply({ error: 'internal_error' }, 500)],
    ['answers for another payer', () => jsonReply({ isValid: true, payer: `0x${'9'.repeat(40)}` })],
  ];
  test.each(rows)('because it %s takes no money and claims nothing', async (_what, script) => {
    const { payer, payment, lane, order } = await scene();
    if (script === 'down') await between.stop();
    else between.onVerify = script;
    const hasty = laneWith({ timeoutMs: SHORT_TIMEOUT_MS });
    const failure = await failureOf(take(hasty, order, payment));
    expect(summary(failure)).toMatchObject({ code: 'upstream_unavailable', stage: 'facilitator' });
    expect(failure.context).toMatchObject({ resource: 'facilitator', retryAfterSeconds: expect.any(Number) });
    expect(await control.payments.find(idOf(payer, payment))).toBeNull();
    await between.reset();
    await (await take(lane, order, payment)).finish(true);
    expect(await world.settlements(payer.address)).toBe(1);
  });
});

describe('a settlement that fails', () => {
  test('because the payer moved the money after the verification charges nothing and may be tried again', async () => {
    const { payer, payment, lane, order } = await scene();
    between.onSettle = async (_call, forward) => {
      await empty(payer.address);
      return forward();
    };
    const failure = await failureOf(take(lane, order, payment));
    expect(summary(failure)).toEqual({
      code: 'payment_failed',
      stage: 'settle',
      reason: 'invalid_exact_evm_insufficient_balance',
    });
    expect(failure.context.offer).toBeDefined();
    expect(await control.payments.find(idOf(payer, payment))).toBeNull();
    expect(await world.settlements(payer.address)).toBe(0);
  });

  test('on chain, as a mined transaction that reverted, charges nothing', async () => {
    const { payer, payment, lane, order } = await scene();
    between.onSettle = async (_call, forward) => {
      const { rpc } = world.chain;
      await rpc.call('evm_setAutomine', false);
      try {
        const answer = forward();
        await waitUntil('the facilitator sent its transaction', async () => (await pending()) === 1);
        await rpc.call(
          'anvil_setStorageAt',
          world.accepted.token.address,
          balanceSlot(payer.address),
          word(0n),
        );
        await rpc.call('evm_mine');
        return await answer;
      } finally {
        await rpc.call('evm_setAutomine', true);
      }
    };
    expect(summary(await failureOf(take(lane, order, payment)))).toEqual({
      code: 'payment_failed',
      stage: 'settle',
      reason: 'invalid_exact_evm_transaction_failed',
    });
    expect(await world.settlements(payer.address)).toBe(0);
    expect(await control.payments.find(idOf(payer, payment))).toBeNull();
  });

  test('because the facilitator died after the verification charges nothing, and the same payment is taken once it is back', async () => {
    const { payer, payment, lane, order } = await scene();
    between.onVerify = async (_call, forward) => ({ ...(await forward()), thenDie: true });
    const failure = await failureOf(take(lane, order, payment));
    expect(summary(failure)).toMatchObject({ code: 'upstream_unavailable', stage: 'facilitator' });
    expect(await control.payments.find(idOf(payer, payment))).toBeNull();
    await between.reset();
    await (await take(lane, order, payment)).finish(true);
    expect(await world.settlements(payer.address)).toBe(1);
  });

  test('as the facilitator says while the chain shows it is served', async () => {
    const { payer, payment, lane, order } = await scene();
    between.onSettle = async (_call, forward) => {
      await forward();
      return jsonReply({
        success: false,
        errorReason: 'invalid_exact_evm_transaction_failed',
        transaction: '',
      });
    };
    await (await take(lane, order, payment)).finish(true);
    expect(await world.settlements(payer.address)).toBe(1);
  });
});

describe('a settlement whose outcome the facilitator leaves open', () => {
  const settledButSilent: [string, Script][] = [
    ['never answers', async (_call, forward) => forward().then(() => 'hang' as const)],
    ['breaks the connection', async (_call, forward) => forward().then(() => 'reset' as const)],
    ['breaks off its answer', async (_call, forward) => ({ cut: (await forward()).text })],
    ['answers garbage', async (_call, forward) => forward().then(() => ({ status: 200, text: 'ok' }))],
    ['answers 500', async (_call, forward) => forward().then(() => jsonReply({ error: 'x' }, 500))],
    [
      'says that it is pending',
      async (_call, forward) =>
        forward().then(() =>
          jsonReply({ success: false, errorReason: 'settlement_pending', transaction: UNMINED }),
        ),
    ],
    [
      'names no transaction',
      async (_call, forward) =>
        forward().then(() => jsonReply({ success: true, transaction: '', network: 'base-sepolia' })),
    ],
    [
      'names another transaction',
      async (_call, forward) =>
        forward().then(() => jsonReply({ success: true, transaction: UNMINED, network: 'base-sepolia' })),
    ],
    [
      'sends more than a verdict',
      async (_call, forward) => forward().then(() => ({ status: 200, text: ' '.repeat(100_000) })),
    ],
  ];
  test.each(settledButSilent)('because it %s is seen on the chain and served', async (what, script) => {
    const timeoutMs = what === 'never answers' ? SHORT_TIMEOUT_MS : SETTLE_TIMEOUT_MS;
    const { payer, payment, lane, order } = await scene({}, 1, laneWith({ timeoutMs }));
    between.onSettle = script;
    const paid = await take(lane, order, payment);
    await paid.finish(true);
    expect(await receiptStatus(paid.payment.transaction)).toBe('0x1');
    expect(await world.settlements(payer.address)).toBe(1);
  });

  const nothingSettled: [string, Script, LaneOptions, string | undefined][] = [
    ['a broken connection', () => 'reset', {}, undefined],
    ['a broken connection, with no chain to ask', () => 'reset', { confirmer: noConfirmer }, undefined],
    [
      'a lie that it settled',
      () => jsonReply({ success: true, transaction: UNMINED, network: 'base-sepolia' }),
      {},
      UNMINED,
    ],
    [
      'a lie about another payer',
      () =>
        jsonReply({
          success: true,
          transaction: UNMINED,
          network: 'base-sepolia',
          payer: `0x${'8'.repeat(40)}`,
        }),
      { confirmer: noConfirmer },
      undefined,
    ],
    [
      'a lie about another network',
      () => jsonReply({ success: true, transaction: UNMINED, network: 'base' }),
      { confirmer: noConfirmer },
      undefined,
    ],
  ];
  test.each(nothingSettled)(
    '%s is not served and not settled a second time',
    async (_what, script, options, transaction) => {
      const lane = laneWith(options);
      const { payer, payment, order } = await scene({}, 1, lane);
      between.onSettle = script;
      const failure = await failureOf(take(lane, order, payment));
      expect(summary(failure)).toMatchObject({ code: 'settlement_unknown', stage: 'settle' });
      expect(failure.context.payment).toMatchObject({ authorizationNonce: payment.nonce });
      expect(failure.context.payment?.transaction).toBe(transaction);
      expect(failure.context.detail).toMatch(/check the chain/i);
      // Sent again at once, and through another process, it says the same: no request is using it any more.
      for (const asked of [lane, laneWith({ ...options, store: otherControl.payments })]) {
        const again = await failureOf(take(asked, order, payment));
        expect(summary(again)).toMatchObject({ code: 'settlement_unknown', stage: 'settle' });
        expect(again.context.payment).toEqual({
          stage: 'settle',
          authorizationNonce: payment.nonce,
          sinceMs: (await control.payments.find(idOf(payer, payment)))?.claimedAtMs,
          ...(transaction === undefined ? {} : { transaction }),
        });
        expect(again.context.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      }
      ahead = LEASE_MS;
      const later = await failureOf(take(lane, order, payment));
      expect(summary(later)).toMatchObject({ code: 'settlement_unknown', stage: 'settle' });
      expect(settleCalls()).toBe(1);
      expect((await control.payments.find(idOf(payer, payment)))?.state).toBe('settling');
    },
  );

  test('and that is mined later serves the same payment then, without asking the facilitator again', async () => {
    const { payer, payment, lane, order } = await scene();
    let settleLate: (() => Promise<unknown>) | undefined;
    between.onSettle = (_call, forward) => {
      settleLate = forward;
      return 'reset';
    };
    const failure = await failureOf(take(lane, order, payment));
    expect(failure.code).toBe('settlement_unknown');
    await settleLate?.();
    const paid = await take(lane, order, payment);
    expect((await failureOf(take(lane, order, payment))).code).toBe('payment_in_progress');
    await paid.finish(true);
    expect(settleCalls()).toBe(1);
    expect(await world.settlements(payer.address)).toBe(1);
  });

  test('is in use while the facilitator is asked, and of unknown outcome as soon as it did not answer', async () => {
    const { payment, lane, order } = await scene();
    let breakOff: (() => void) | undefined;
    between.onSettle = async () => {
      await new Promise<void>((resolve) => {
        breakOff = resolve;
      });
      return 'reset' as const;
    };
    const begun = failureOf(take(lane, order, payment));
    await waitUntil('the facilitator was asked to settle', () => breakOff !== undefined);
    expect((await failureOf(take(lane, order, payment))).code).toBe('payment_in_progress');
    breakOff?.();
    expect((await begun).code).toBe('settlement_unknown');
    expect((await failureOf(take(lane, order, payment))).code).toBe('settlement_unknown');
    expect(settleCalls()).toBe(1);
  });

  test('and is never mined frees nothing before its authorization ended, and then says that nothing was charged', async () => {
    const validBefore = String(Math.floor(Date.now() / 1_000) + 60);
    const { payer, payment, lane, order } = await scene({ authorization: { validBefore } });
    between.onSettle = () => 'reset';
    await failureOf(take(lane, order, payment));
    const parts = { store: control, confirmerFor: confirmerFor(), clock, log };
    ahead = 200_000;
    expect((await resolveUnsettled(parts)).dropped).toBe(0);
    expect((await failureOf(take(lane, order, payment))).code).toBe('settlement_unknown');
    ahead = 400_000;
    const ended = await failureOf(take(lane, order, payment));
    expect(summary(ended)).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: 'invalid_exact_evm_payload_authorization_valid_before',
    });
    expect(await control.payments.find(idOf(payer, payment))).toBeNull();
  });
});

describe('what a call would fail on at once', () => {
  const nothingThere = () => Promise.reject(new Failure('query_failed', { detail: 'No such column.' }));

  test('is told after the payment was verified and before it is settled, and leaves the payment free', async () => {
    const { payer, payment, lane, order } = await scene();
    const asked: string[] = [];
    const preflight = () => {
      asked.push(between.calls.map(({ path }) => path).join(' '));
      return nothingThere();
    };
    const asking = lane.take({ order, header: payment.header, preflight });
    await expect(asking).rejects.toMatchObject({ code: 'query_failed' });
    expect([asked, settleCalls()]).toEqual([['/verify'], 0]);
    expect(await control.payments.find(idOf(payer, payment))).toBeNull();
    await (await take(lane, order, payment)).finish(true);
    expect(await world.settlements(payer.address)).toBe(1);
  });

  test('is told to nobody whose payment is no good, and not asked again of one that settled', async () => {
    const { payment, lane, order } = await scene();
    const malformed = await failureOf(lane.take({ order, header: 'e30=', preflight: nothingThere }));
    expect(malformed.code).toBe('payment_malformed');
    between.onVerify = () => jsonReply({ isValid: false, invalidReason: 'invalid_exact_evm_signature' });
    const refused = await failureOf(lane.take({ order, header: payment.header, preflight: nothingThere }));
    expect(refused.code).toBe('payment_invalid');
    await between.reset();
    await (await take(lane, order, payment)).finish(false);
    const again = await lane.take({ order, header: payment.header, preflight: nothingThere });
    expect(again.kind).toBe('settled');
  });
});

describe('the chain, where it can be asked,', () => {
  test('is believed over a facilitator whose word it does not bear out; a chain that is silent is not waited for', async () => {
    let asked = 0;
    const silent: ChainConfirmer = {
      lookUp: async () => {
        asked += 1;
        return { outcome: 'silent' };
      },
    };
    const { payment, lane, order } = await scene({}, 1, laneWith({ confirmer: silent }));
    await (await take(lane, order, payment)).finish(true);
    expect(asked).toBe(2);
  });

  test('tells of a payment that was cancelled: nothing was charged', async () => {
    const { payer, payment, lane, order } = await scene(
      {},
      1,
      laneWith({ confirmer: { lookUp: async () => ({ outcome: 'spent_otherwise' }) } }),
    );
    between.onSettle = () => 'reset';
    expect(summary(await failureOf(take(lane, order, payment)))).toMatchObject({
      code: 'payment_failed',
      stage: 'settle',
    });
    expect(await control.payments.find(idOf(payer, payment))).toBeNull();
  });
});

describe('a process that dies', () => {
  test('between settlement and answer leaves a payment that another process serves, without a second settlement', async () => {
    const { payer, payment, lane, order } = await scene();
    const first = await take(lane, order, payment);
    const survivor = laneWith({ store: otherControl.payments });
    expect((await failureOf(take(survivor, order, payment))).code).toBe('payment_in_progress');
    ahead = LEASE_MS;
    const second = await take(survivor, order, payment);
    expect(second.payment).toEqual(first.payment);
    await second.finish(true);
    expect(settleCalls()).toBe(1);
    expect(await world.settlements(payer.address)).toBe(1);
  });

  test.each([
    ['by the payer, who sends the payment again', false],
    ['by the sweeper', true],
  ])('between settlement and record leaves a payment that is found on the chain %s', async (_by, swept) => {
    const deaf: PaymentStore = {
      ...wrapped(control),
      recordSettlement: () => Promise.reject(new StoreUnavailable('test')),
    };
    const { payer, payment, order } = await scene();
    const failure = await failureOf(take(laneWith({ store: deaf }), order, payment));
    expect(summary(failure)).toMatchObject({ code: 'upstream_unavailable', stage: 'settle' });
    expect(failure.context.payment).toMatchObject({
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      authorizationNonce: payment.nonce,
    });
    if (swept) {
      ahead = LEASE_MS;
      const parts = { store: control, confirmerFor: confirmerFor(), clock, log };
      expect((await resolveUnsettled(parts)).settled).toBe(1);
    }
    await (await take(laneWith(), order, payment)).finish(true);
    expect(settleCalls()).toBe(1);
    expect(await world.settlements(payer.address)).toBe(1);
  });
});

test('of fifty requests at once with one payment, in two processes, one is served and one settlement is on chain', async () => {
  const { payer, payment, order } = await scene();
  const lanes = [laneWith(), laneWith({ store: otherControl.payments })];
  let refused = 0;
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      try {
        const paid = await take(lanes[index % 2] ?? laneWith(), order, payment);
        await waitUntil('every other request was answered', () => refused === 49);
        await paid.finish(true);
        return 'served';
      } catch (error) {
        const { code } = await failureOf(Promise.reject(error));
        refused += 1;
        return code;
      }
    }),
  );
  expect(outcomes.toSorted()).toEqual([...Array(49).fill('payment_in_progress'), 'served']);
  expect(settleCalls()).toBe(1);
  expect(await world.settlements(payer.address)).toBe(1);
  expect((await failureOf(take(laneWith(), order, payment))).code).toBe('payment_invalid');
});

test('no log line and no failure of all these tests holds a signature or a URL', () => {
  expect(signatures.length).toBeGreaterThan(30);
  const written = [...lines, ...failures].join('\n').toLowerCase();
  for (const signature of signatures) expect(written.includes(signature.toLowerCase())).toBe(false);
  for (const url of [world.chain.url, between.url]) expect(written.includes(new URL(url).host)).toBe(false);
});

/** Moves all USDC of a payer away, mined at once. */
async function empty(payer: Address): Promise<void> {
  await move(payer, await world.balance(payer));
  await waitUntil('the payer is broke', async () => (await world.balance(payer)) === 0n);
}

async function move(payer: Address, amount: bigint): Promise<void> {
  const elsewhere = address(`0x${'77'.repeat(20)}`);
  const data = callBareTransfer(elsewhere, amount);
  await world.chain.sender.send({ from: payer, to: world.accepted.token.address, data });
}

async function pending(): Promise<number> {
  const { pending: count } = await world.chain.rpc.call<{ pending: string }>('txpool_status');
  return Number(count);
}

async function receiptStatus(transaction: string): Promise<string | undefined> {
  return (await world.chain.rpc.call<{ status: string } | null>('eth_getTransactionReceipt', transaction))
    ?.status;
}

/** Where Circle's token keeps the balance of an account. */
function balanceSlot(of: Address): string {
  return keccak256(`0x${of.slice(2).padStart(64, '0')}${word(BALANCES_SLOT).slice(2)}`);
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

/** The checksummed spelling with the case of its first letter turned. */
function misCased(of: Address): string {
  const turn = (letter: string): string =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return `0x${toChecksum(of).slice(2).replace(/[a-f]/i, turn)}`;
}

function wrapped({ payments }: ControlStore): PaymentStore {
  return {
    find: (id) => payments.find(id),
    claim: (claim) => payments.claim(claim),
    recordSettlement: (settlement) => payments.recordSettlement(settlement),
    dropClaim: (id) => payments.dropClaim(id),
    leaveOpen: (left) => payments.leaveOpen(left),
    beginServing: (serving) => payments.beginServing(serving),
    finishServing: (finish) => payments.finishServing(finish),
    unresolved: (question) => payments.unresolved(question),
    issueKey: (issue) => payments.issueKey(issue),
  };
}
