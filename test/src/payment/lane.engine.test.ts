import { decodePaymentResponseHeader } from '@x402/core/http';
import { keccak256 } from 'viem';
import { describe, expect, onTestFinished } from 'vitest';
import { type Address, address, toChecksum } from '../../../core/domain/account.ts';
import { Failure } from '../../../core/errors.ts';
import { callBareTransfer } from '../../../demo/chain/payments.ts';
import type { Wallet } from '../../../demo/chain/sender.ts';
import type { Order, PaymentLane } from '../../../src/payment/payment-lane.ts';
import { ownTestStore } from '../../kit/access.ts';
import { type LaneOptions, type LaneStage, summaryOf, test } from '../../kit/lane-stage.ts';
import { jsonReply } from '../../kit/scripted-facilitator.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { orderOf, pay, type SentPayment, type Wish, type X402World } from '../../kit/x402-world.ts';

/** What a chain and its facilitator make of payments at a fixed price. Everything that can go wrong around one is in test/src/gate/money-table. */

const PRICE_ATOMS = 1_000n;
/** Slot of `balanceAndBlacklistStates` in FiatTokenV2_2. */
const BALANCES_SLOT = 9n;
const UNMINED = `0x${'ab'.repeat(32)}`;

async function take(lane: PaymentLane, order: Order, { header }: Pick<SentPayment, 'header'>) {
  const paid = await lane.take({ order, header });
  if (paid.kind === 'open') throw new Error('a payment of a fixed price is left open');
  return paid;
}

/** A payer and a payment for an order of its own, and what the lane and the chain have of it. */
async function scene(
  { world, lane: openLane, control, failureOf }: LaneStage,
  wish: Wish = {},
  { version = 1, ...options }: LaneOptions & { readonly version?: 1 | 2 } = {},
) {
  const [lane, payer, order] = [await openLane(options), await world.payer(), orderOf()];
  const payment = await pay(lane.offer(order), payer, version, wish);
  const { chain, token } = world.accepted;
  const id = { chain, asset: token.address, payer: payer.address, nonce: payment.nonce };
  return {
    ...{ payer, payment, lane, order, id },
    take: (asked = order) => take(lane, asked, payment),
    refusal: async (asked = order) => failureOf(take(lane, asked, payment)),
    record: () => control.payments.find(id),
    settlements: () => world.settlements(payer.address),
  };
}

describe('a payment that is in order', () => {
  test.for([1, 2] as const)(
    'in version %i is settled once and answers one request',
    async (version, { stage }) => {
      const { world, callsOf } = stage;
      const { payer, id, take, refusal, settlements } = await scene(stage, {}, { version });
      const before = await world.balance(world.accepted.payTo);
      const paid = await take();
      expect(paid.payment).toEqual({ ...id, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
      expect(decodePaymentResponseHeader(paid.receiptHeader)).toEqual({
        success: true,
        transaction: paid.payment.transaction,
        network: version === 1 ? 'base-sepolia' : 'eip155:84532',
        payer: payer.address,
      });
      expect(await world.balance(world.accepted.payTo)).toBe(before + PRICE_ATOMS);
      await paid.finish(true);
      const again = await refusal();
      expect(summaryOf(again)).toEqual({
        code: 'payment_invalid',
        stage: 'verify',
        reason: 'invalid_exact_evm_nonce_already_used',
      });
      expect(again.context.offer).toMatchObject({ accepts: [{ network: 'base-sepolia' }] });
      expect([await settlements(), callsOf('/settle')]).toEqual([1, 1]);
    },
  );

  test('that fails on our side each time it is tried gets another answer than one that was served', async ({
    stage,
  }) => {
    const { take, refusal } = await scene(stage, {}, { limits: { servingAttemptsMax: 2 } });
    for (let attempt = 0; attempt < 4; attempt++) await (await take()).finish(false, true);
    for (let attempt = 0; attempt < 2; attempt++) await (await take()).finish(false);
    expect((await refusal()).message).toContain('no answer arrived');
  });

  test('unlocks nothing without its signature: payer and nonce of a settled payment are public', async ({
    stage,
  }) => {
    const { payer, payment, lane, order, take: taken } = await scene(stage, {}, { version: 2 });
    await (await taken()).finish(false);
    const forged = await pay(lane.offer(order), payer, 2, {
      authorization: { nonce: payment.nonce },
      signature: `0x${'11'.repeat(65)}`,
    });
    const refusal = await stage.failureOf(take(lane, order, forged));
    expect(summaryOf(refusal)).toMatchObject({ code: 'payment_invalid' });
    await (await taken()).finish(true);
  });

  test('that bought a key is given to the operation again, which alone knows whether to show the key', async ({
    stage,
  }) => {
    const { payment, id, take, record } = await scene(stage);
    const paid = await take();
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
    await stage.control.payments.issueKey({ id, key });
    await paid.finish(true);
    const again = await take();
    expect(again.payment).toEqual(paid.payment);
    await again.finish(false);
    expect((await record())?.state).toBe('served');
  });
});

describe('refused before settlement', () => {
  const unsigned = 'invalid_exact_evm_signature';
  const rows: readonly [what: string, wish: (world: X402World) => Wish, reason: string, stage: string][] = [
    ['a text message signed in place of typed data', () => ({ asMessage: true }), unsigned, 'signature'],
    ['the domain of another token signed', () => ({ domain: { name: 'USD Coin' } }), unsigned, 'signature'],
    ['another chain id signed', () => ({ domain: { chainId: 8453 } }), unsigned, 'signature'],
    [
      'an amount changed after signing',
      () => ({ authorization: { value: '1' }, sent: { value: '1000' } }),
      unsigned,
      'signature',
    ],
    [
      'a mis-cased payee, which no facilitator is asked about',
      ({ accepted }) => ({ sent: { to: misCased(accepted.payTo) } }),
      'invalid_exact_evm_address_checksum',
      'verify',
    ],
  ];
  test.for(rows)('%s', async ([, wish, reason, at], { stage }) => {
    for (const version of [1, 2] as const) {
      const { refusal, settlements, record } = await scene(stage, wish(stage.world), { version });
      const askedBefore = stage.between.calls.length;
      const failure = await refusal();
      expect(summaryOf(failure)).toEqual({ code: 'payment_invalid', stage: at, reason });
      expect(failure.context.offer?.accepts).toHaveLength(1);
      expect(stage.between.calls.length - askedBefore).toBe(at === 'signature' ? 1 : 0);
      expect([await settlements(), await record()]).toEqual([0, null]);
    }
  });

  test.for([
    [1, 'base'],
    [1, 'eip155:84532'],
    [2, 'eip155:8453'],
    [2, 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ] as const)('version %i on %s, a network that is not on offer', async ([version, network], { stage }) => {
    const { refusal } = await scene(stage, { network }, { version });
    expect(summaryOf(await refusal())).toMatchObject({ stage: 'verify', reason: 'invalid_network' });
    expect(stage.between.calls).toHaveLength(0);
  });

  test('a chain that we sell on and the facilitator does not serve', async ({ stage }) => {
    const base = { ...stage.world.accepted, chain: 'eip155:8453', slug: 'base', rpcUrls: [] } as const;
    const { refusal } = await scene(stage, {}, { version: 2, config: { accept: [base] } });
    expect(summaryOf(await refusal())).toMatchObject({ code: 'payment_invalid', stage: 'verify' });
  });

  test.for<[string, Wish]>([
    ['accepted terms of another token', { accepted: { asset: `0x${'34'.repeat(20)}` } }],
    ['accepted terms of an older price', { accepted: { amount: '999' } }],
    ['accepted terms of another payee', { accepted: { payTo: `0x${'56'.repeat(20)}` } }],
    ['the URL of another resource', { resourceUrl: 'https://api.example/v0/graph' }],
  ])('version 2 with %s', async ([, wish], { stage }) => {
    const { refusal } = await scene(stage, wish, { version: 2 });
    const reason = 'invalid_payment_requirements';
    expect(summaryOf(await refusal())).toMatchObject({ stage: 'verify', reason });
  });

  test('a payer without the money', async ({ stage }) => {
    const { payer, refusal } = await scene(stage);
    await empty(stage.world, payer.address);
    const reason = 'invalid_exact_evm_insufficient_balance';
    expect(summaryOf(await refusal())).toEqual({ code: 'payment_invalid', stage: 'verify', reason });
  });

  test('a nonce that was used elsewhere', async ({ stage }) => {
    const { payment, order, refusal, settlements } = await scene(stage);
    const elsewhere = ownTestStore();
    onTestFinished(elsewhere.close);
    await take(await stage.lane({ control: elsewhere.store }), order, payment);
    const reason = 'invalid_exact_evm_nonce_already_used';
    expect(summaryOf(await refusal())).toEqual({ code: 'payment_invalid', stage: 'verify', reason });
    expect(await settlements()).toBe(1);
  });

  test('a header that is no payment', async ({ stage }) => {
    const taking = take(await stage.lane(), orderOf(), { header: 'eyJ4NDAyVmVyc2lvbiI6MX0=' });
    const failure = await stage.failureOf(taking);
    expect(summaryOf(failure)).toEqual({ code: 'payment_malformed', stage: 'input', reason: undefined });
    expect(failure.context.offer?.accepts).toHaveLength(1);
  });
});

describe('a settlement that fails', () => {
  test('because the payer moved the money after the verification charges nothing and may be tried again', async ({
    stage,
  }) => {
    const { payer, refusal, record, settlements } = await scene(stage);
    stage.between.onSettle = async (_call, forward) => {
      await empty(stage.world, payer.address);
      return forward();
    };
    const failure = await refusal();
    const reason = 'invalid_exact_evm_insufficient_balance';
    expect(summaryOf(failure)).toEqual({ code: 'payment_failed', stage: 'settle', reason });
    expect(failure.context.offer).toBeDefined();
    expect([await record(), await settlements()]).toEqual([null, 0]);
  });

  test('on chain, as a mined transaction that reverted, charges nothing', async ({ stage }) => {
    const { payer, refusal, record, settlements } = await scene(stage);
    const { chain, accepted } = stage.world;
    const sent = async () => (await chain.rpc.call<{ pending: string }>('txpool_status')).pending;
    stage.between.onSettle = async (_call, forward) => {
      await chain.rpc.call('evm_setAutomine', false);
      try {
        const answer = forward();
        await waitUntil('the facilitator sent its transaction', async () => Number(await sent()) === 1);
        const slot = keccak256(
          `0x${payer.address.slice(2).padStart(64, '0')}${word(BALANCES_SLOT).slice(2)}`,
        );
        await chain.rpc.call('anvil_setStorageAt', accepted.token.address, slot, word(0n));
        await chain.rpc.call('evm_mine');
        return await answer;
      } finally {
        await chain.rpc.call('evm_setAutomine', true);
      }
    };
    const reason = 'invalid_exact_evm_transaction_failed';
    expect(summaryOf(await refusal())).toEqual({ code: 'payment_failed', stage: 'settle', reason });
    expect([await record(), await settlements()]).toEqual([null, 0]);
  });

  test('because the payment was cancelled on the chain charged nothing', async ({ stage }) => {
    const cancelled = { lookUp: async () => ({ outcome: 'spent_otherwise' }) as const };
    const { refusal, record } = await scene(stage, {}, { confirmer: cancelled });
    stage.between.onSettle = () => 'reset';
    expect(summaryOf(await refusal())).toMatchObject({ code: 'payment_failed', stage: 'settle' });
    expect(await record()).toBeNull();
  });
});

describe('a settlement whose outcome the facilitator leaves open', () => {
  test.for(['reset', 'hang'] as const)('by a %s is seen on the chain and served', async (act, { stage }) => {
    const { take, settlements } = await scene(stage, {}, act === 'hang' ? { timeoutMs: 2_000 } : {});
    stage.between.onSettle = (_call, forward) => forward().then(() => act);
    const paid = await take();
    await paid.finish(true);
    expect(await receiptStatus(stage.world, paid.payment.transaction)).toBe('0x1');
    expect(await settlements()).toBe(1);
  });

  test('and that the chain does not show is reported with all that is known of it, each time', async ({
    stage,
  }) => {
    const { payment, refusal, record } = await scene(stage);
    stage.between.onSettle = () =>
      jsonReply({ success: true, transaction: UNMINED, network: 'base-sepolia' });
    const failure = await refusal();
    expect(summaryOf(failure)).toMatchObject({ code: 'settlement_unknown', stage: 'settle' });
    const known = { authorizationNonce: payment.nonce, transaction: UNMINED };
    const detail = expect.stringMatching(/check the chain/i);
    expect(failure.context).toMatchObject({ payment: known, detail });
    const again = await refusal();
    const sinceMs = (await record())?.claimedAtMs;
    expect(again.context.payment).toEqual({ stage: 'settle', ...known, sinceMs });
    expect(again.context.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect((await record())?.state).toBe('settling');
  });
});

describe('what a call would fail on at once', () => {
  const preflight = () => Promise.reject(new Failure('query_failed', { detail: 'No such column.' }));

  test('is given after the payment was verified and before it is settled, and leaves the payment free', async ({
    stage,
  }) => {
    const { payment, lane, order, take, record, settlements } = await scene(stage);
    const asking = lane.take({ order, header: payment.header, preflight });
    await expect(asking).rejects.toMatchObject({ code: 'query_failed' });
    expect(stage.between.calls.map(({ path }) => path)).toEqual(['/verify']);
    expect(await record()).toBeNull();
    await (await take()).finish(true);
    expect(await settlements()).toBe(1);
  });

  test('is kept from callers whose payment is not valid, and not asked again of one that settled', async ({
    stage,
  }) => {
    const { payment, lane, order, take } = await scene(stage);
    const asked = (header: string) => lane.take({ order, header, preflight });
    expect((await stage.failureOf(asked('e30='))).code).toBe('payment_malformed');
    stage.between.onVerify = () =>
      jsonReply({ isValid: false, invalidReason: 'invalid_exact_evm_signature' });
    expect((await stage.failureOf(asked(payment.header))).code).toBe('payment_invalid');
    await stage.between.reset();
    await (await take()).finish(false);
    expect((await asked(payment.header)).kind).toBe('settled');
  });
});

test('no log line and no failure of all these tests holds a signature or a URL', ({ stage }) => {
  const { text, secrets } = stage.told();
  expect(secrets.length).toBeGreaterThan(25);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});

/** Moves all USDC of a payer away, mined at once. */
async function empty({ balance, chain, accepted }: X402World, payer: Wallet['address']): Promise<void> {
  const data = callBareTransfer(address(`0x${'77'.repeat(20)}`), await balance(payer));
  await chain.sender.send({ from: payer, to: accepted.token.address, data });
  await waitUntil('the payer is broke', async () => (await balance(payer)) === 0n);
}

async function receiptStatus({ chain }: X402World, transaction: string): Promise<string | undefined> {
  const receipt = await chain.rpc.call<{ status: string } | null>('eth_getTransactionReceipt', transaction);
  return receipt?.status;
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
