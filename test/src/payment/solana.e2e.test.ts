import { base58 } from '@scure/base';
import { AccountRole, type AddressesByLookupTableAddress, type Instruction } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { test as base, describe, expect, onTestFinished } from 'vitest';
import { MEMO_PROGRAM, SMART_WALLET_PROGRAMS } from '../../../core/domain/solana-programs.ts';
import { fundTokens } from '../../../demo/solana/mints.ts';
import {
  type SponsoredPayment,
  signTransaction,
  sponsoredPayment,
} from '../../../demo/solana/transactions.ts';
import { solanaWallet } from '../../../demo/solana/wallets.ts';
import type { SettlementQuestion } from '../../../src/payment/confirm.ts';
import type { Order, PaymentLane } from '../../../src/payment/payment-lane.ts';
import { resolveUnsettled } from '../../../src/payment/settle.ts';
import { createSolanaConfirmer } from '../../../src/payment/solana/confirm.ts';
import { digestOf, messageIn } from '../../../src/payment/solana/transfer.ts';
import { ownTestStore } from '../../kit/access.ts';
import { type LaneOptions, type LaneStage, openLaneStage, summaryOf } from '../../kit/lane-stage.ts';
import { jsonReply } from '../../kit/scripted-facilitator.ts';
import { newMemo, type SolanaLaneWorld, solanaHeader, startSolanaLane } from '../../kit/solana-lane.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { keepingLog, orderOf } from '../../kit/x402-world.ts';

/** What a local Solana and the official facilitator make of payments to the lane. */

type Stage = LaneStage<SolanaLaneWorld>;

const test = base.extend<{ $file: { startedStage: Stage }; $test: { stage: Stage } }>({
  startedStage: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names that a fixture uses from the pattern
    async ({}, use) => {
      const world = await startSolanaLane();
      const { stage, close } = await openLaneStage(world);
      await use(stage);
      await close();
      await world.stop();
    },
    { scope: 'file' },
  ],
  stage: async ({ startedStage }, use) => {
    await use(startedStage);
    await startedStage.between.reset();
  },
});

const PRICE_ATOMS = 1_000n;

async function take(lane: PaymentLane, order: Order, header: string) {
  const paid = await lane.take({ order, header });
  if (paid.kind === 'open') throw new Error('a payment of a fixed price is left open');
  return paid;
}

/** A payment for an order of its own, signed by the official client unless a transaction is given. */
async function scene(
  { world, lane: openLane, control, failureOf, callsOf }: Stage,
  options: LaneOptions & { readonly version?: 1 | 2; readonly transaction?: string } = {},
) {
  const [lane, order] = [await openLane(options), orderOf()];
  const offer = lane.offer(order);
  const transaction = options.transaction ?? (await world.sign(offer));
  const header = solanaHeader(offer, transaction, options.version);
  const { chain, token } = world.accepted;
  const nonce = digestOf(messageIn(transaction) ?? new Uint8Array());
  const id = { chain, asset: token.address, payer: world.solana.payer.address, nonce };
  const before = await world.balance(world.accepted.payTo);
  return {
    ...{ lane, order, id, header, transaction },
    take: (asked = order) => take(lane, asked, header),
    refusal: (asked = order) => failureOf(take(lane, asked, header)),
    record: () => control.payments.find(id),
    earned: async () => (await world.balance(world.accepted.payTo)) - before,
    settles: () => callsOf('/settle'),
  };
}

const base64 = (wire: Uint8Array): string => Buffer.from(wire).toString('base64');

/** A transaction of the scheme with what a payer might have changed. */
async function transactionOf(
  { solana }: SolanaLaneWorld,
  change: Partial<SponsoredPayment> = {},
  {
    edit = (instructions) => instructions,
    blockhash,
    lookupTables,
  }: {
    readonly lookupTables?: AddressesByLookupTableAddress;
    readonly edit?: (instructions: readonly Instruction[]) => readonly Instruction[];
    readonly blockhash?: string;
  } = {},
): Promise<string> {
  const { facilitator: feePayer, payer, payee, usdc: mint, node } = solana;
  const memo = newMemo();
  const payment = { ...{ feePayer, payer, payee, mint, memo }, amount: PRICE_ATOMS, ...change };
  const unsigned = await sponsoredPayment(payment);
  const instructions = edit(unsigned.instructions);
  const ledger =
    blockhash === undefined
      ? node.ledger
      : { latestBlockhash: () => ({ blockhash, lastValidBlockHeight: 1_000 }) };
  const whole = { ...unsigned, instructions, ...(lookupTables && { lookupTables }) };
  return base64(await signTransaction(ledger, whole));
}

describe('a payment that is in order', () => {
  test.for([1, 2] as const)(
    'in version %i is settled once and answers one request',
    async (version, { stage }) => {
      const { id, take: taken, refusal, earned, settles } = await scene(stage, { version });
      const paid = await taken();
      const transaction = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
      expect(paid.payment).toEqual({ ...id, transaction });
      expect(decodePaymentResponseHeader(paid.receiptHeader)).toEqual({
        success: true,
        transaction: paid.payment.transaction,
        network: version === 1 ? 'solana-devnet' : id.chain,
        payer: id.payer,
      });
      await paid.finish(true);
      const reason = 'duplicate_settlement';
      expect(summaryOf(await refusal())).toEqual({ code: 'payment_invalid', stage: 'verify', reason });
      expect(summaryOf(await refusal(orderOf()))).toMatchObject({ code: 'payment_invalid' });
      expect([await earned(), settles()]).toEqual([PRICE_ATOMS, 1]);
    },
  );

  test('is one payment whatever the signatures that it is sent with', async ({ stage }) => {
    const wire = Buffer.from(await transactionOf(stage.world), 'base64');
    const unsponsored = Buffer.from(wire);
    unsponsored.fill(0, 1, 65);
    const first = await scene(stage, { transaction: base64(wire) });
    await (await first.take()).finish(true);
    const again = await scene(stage, { transaction: base64(unsponsored) });
    expect(again.id).toEqual(first.id);
    expect(summaryOf(await again.refusal())).toMatchObject({ reason: 'duplicate_settlement' });
    expect(await first.earned()).toBe(PRICE_ATOMS);
  });
});

describe('refused before settlement', () => {
  const invalid = (what: string) => `invalid_exact_svm_payload_${what}`;
  const simulated = 'invalid_exact_svm_transaction_simulation_failed';
  type Row = readonly [
    what: string,
    make: (world: SolanaLaneWorld) => Promise<string>,
    reason: string,
    stage?: string,
  ];
  const rows: readonly Row[] = [
    [
      'an amount below the price',
      (world) => transactionOf(world, { amount: 999n }),
      invalid('amount_mismatch'),
    ],
    [
      'an amount above the price',
      (world) => transactionOf(world, { amount: 1_001n }),
      invalid('amount_mismatch'),
    ],
    [
      'another payee',
      (world) => transactionOf(world, { payee: world.solana.payer.address }),
      invalid('recipient_mismatch'),
    ],
    [
      'another token',
      (world) =>
        transactionOf(world, { mint: world.solana.node.network.otherDollars[0] ?? world.solana.usdc }),
      invalid('mint_mismatch'),
    ],
    [
      'a transfer that the fee payer gives',
      (world) => transactionOf(world, { payer: world.solana.facilitator }),
      invalid('transaction_fee_payer_transferring_funds'),
    ],
    [
      'a fee payer that is not the facilitator’s',
      (world) => transactionOf(world, { feePayer: world.solana.payer, payer: world.solana.facilitator }),
      'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
    ],
    [
      'an instruction that the scheme does not know',
      (world) => transactionOf(world, {}, { edit: (own) => [...own.slice(0, 3), sends(world)] }),
      invalid('unknown_fourth_instruction'),
    ],
    [
      'a note that the fee payer is to sign',
      (world) => transactionOf(world, {}, { edit: (own) => [...own, signedNote(world)] }),
      invalid('transaction_fee_payer_transferring_funds'),
    ],
    [
      'no limit of units',
      (world) => transactionOf(world, {}, { edit: ([, price, ...rest]) => [price, price, ...rest] as never }), // two of one kind
      invalid('transaction_instructions_compute_limit_instruction'),
    ],
    [
      'nothing but limits',
      (world) => transactionOf(world, {}, { edit: (own) => own.slice(0, 2) }),
      invalid('transaction_instructions_length'),
    ],
    [
      'a block hash that counts no more',
      (world) => transactionOf(world, {}, { blockhash: base58.encode(new Uint8Array(32).fill(7)) }),
      simulated,
    ],
    [
      'a payer without the money',
      async (world) => transactionOf(world, { payer: await solanaWallet('broke') }),
      simulated,
    ],
    [
      'a smart wallet, whose transfer the message does not show',
      (world) =>
        transactionOf(world, {}, { edit: ([limit, price]) => [limit, price, ofSmartWallet()] as never }), // two are there
      'invalid_exact_svm_smart_wallet_program_not_allowed',
    ],
    [
      'accounts of a lookup table',
      (world) => transactionOf(world, {}, { lookupTables: lookupTablesOf(world) }),
      invalid('transaction_could_not_be_decoded'),
    ],
    [
      'no signature of the payer',
      async (world) => base64(Buffer.from(await transactionOf(world), 'base64').fill(0, 65, 129)),
      invalid('signature_invalid'),
      'signature',
    ],
  ];
  test.for(rows)('%s', async ([, make, reason, at = 'verify'], { stage }) => {
    const transaction = await make(stage.world);
    for (const version of [1, 2] as const) {
      const { refusal, record, earned, settles } = await scene(stage, { version, transaction });
      const failure = await refusal();
      // The facilitator's own reasons of version 1 are without the name of the scheme.
      const said = version === 1 && reason === simulated ? 'transaction_simulation_failed' : reason;
      expect(summaryOf(failure)).toEqual({ code: 'payment_invalid', stage: at, reason: said });
      if (reason === simulated) expect(failure.message).toContain('block hash');
      expect(failure.context.offer?.accepts).toHaveLength(1);
      expect([await record(), await earned(), settles()]).toEqual([null, 0n, 0]);
    }
  });

  test('a transaction that was executed before', async ({ stage }) => {
    const transaction = await transactionOf(stage.world);
    const elsewhere = ownTestStore();
    onTestFinished(elsewhere.close);
    await (await scene(stage, { transaction, control: elsewhere.store })).take();
    const { refusal, earned } = await scene(stage, { transaction });
    expect(summaryOf(await refusal())).toEqual({
      code: 'payment_invalid',
      stage: 'verify',
      reason: simulated,
    });
    expect(await earned()).toBe(0n);
  });

  test.for<[string, (wire: Buffer) => string]>([
    ['with a byte behind its end', (wire) => base64(Buffer.concat([wire, Buffer.of(0)]))],
    ['cut off', (wire) => base64(wire.subarray(0, 150))],
    ['that is no base64', () => 'ä'],
    ['longer than a packet', (wire) => base64(Buffer.concat([wire, Buffer.alloc(1_232)]))],
  ])('a transaction %s', async ([, change], { stage }) => {
    const wire = Buffer.from(await transactionOf(stage.world), 'base64');
    const { refusal } = await scene(stage, { transaction: change(wire) });
    expect(summaryOf(await refusal())).toEqual({
      code: 'payment_malformed',
      stage: 'input',
      reason: undefined,
    });
    expect(stage.between.calls).toHaveLength(0);
  });

  test('an authorization of an EVM chain', async ({ stage }) => {
    const { lane, order } = await scene(stage);
    const [entry] = lane.offer(order).accepts;
    const authorization = {
      ...{ from: `0x${'11'.repeat(20)}`, to: `0x${'22'.repeat(20)}`, value: '1000' },
      ...{ validAfter: '0', validBefore: '9999999999', nonce: `0x${'33'.repeat(32)}` },
    };
    const payload = { signature: `0x${'44'.repeat(65)}`, authorization };
    const body = { x402Version: 1, scheme: 'exact', network: entry?.['network'], payload };
    const header = Buffer.from(JSON.stringify(body)).toString('base64');
    const failure = await stage.failureOf(take(lane, order, header));
    expect(summaryOf(failure)).toMatchObject({ reason: 'invalid_payment_requirements' });
    expect(failure.message).toContain('payload.transaction');
  });
});

describe('an offer', () => {
  test('names the account that pays the fees, and is not made while none is known', async ({ stage }) => {
    const { world } = stage;
    const entry = { payTo: world.accepted.payTo, extra: { feePayer: world.solana.facilitator.address } };
    expect((await stage.lane()).offer(orderOf()).accepts).toMatchObject([
      { network: 'solana-devnet', ...entry },
    ]);
    stage.between.onSupported = () => jsonReply({ kinds: [], signers: {} });
    expect((await stage.lane()).offer(orderOf()).accepts).toEqual([]);
  });
});

describe('a settlement whose outcome the facilitator leaves open', () => {
  test('is found among the newest transactions of the payer, and served', async ({ stage }) => {
    const { take: taken, earned } = await scene(stage);
    stage.between.onSettle = (_call, forward) => forward().then(() => 'reset');
    await (await taken()).finish(true);
    expect(await earned()).toBe(PRICE_ATOMS);
  });

  test('is reported with the digest while the chain does not show it, and never settled twice', async ({
    stage,
  }) => {
    const { id, refusal, record, earned, settles } = await scene(stage);
    stage.between.onSettle = () => 'reset';
    for (let time = 0; time < 2; time++) {
      const failure = await refusal();
      expect(summaryOf(failure)).toMatchObject({ code: 'settlement_unknown', stage: 'settle' });
      expect(failure.context.payment).toMatchObject({ authorizationNonce: id.nonce });
      expect(failure.message).toContain('newest transactions of the payer');
    }
    expect([(await record())?.state, await earned(), settles()]).toEqual(['settling', 0n, 1]);
  });

  test('because its process died before the record is taken up by the next request, and by the sweeper', async ({
    stage,
  }) => {
    const { payments } = stage.control;
    const recordSettlement = () => Promise.reject(new Error('the process died'));
    const control = { ...stage.control, payments: { ...payments, recordSettlement } };
    const scenes = [await scene(stage, { control }), await scene(stage, { control })] as const;
    for (const { refusal } of scenes) expect((await refusal()).code).toBe('upstream_unavailable');
    const [first, second] = scenes;
    await (await take(await stage.lane(), first.order, first.header)).finish(true);
    const clock = { nowMs: () => Date.now() + 60_000 };
    const confirmer = createSolanaConfirmer(stage.world.accepted);
    const { log } = keepingLog();
    await resolveUnsettled({ store: stage.control, confirmerFor: () => confirmer, clock, log });
    expect((await second.record())?.state).toBe('settled');
    expect(stage.callsOf('/settle')).toBe(2);
  });

  test('because the payer moved the money after the verification charges nothing', async ({ stage }) => {
    const { solana } = stage.world;
    const payer = await solanaWallet(newMemo());
    const { ledger } = solana.node;
    await fundTokens(ledger, { owner: payer.address, mint: solana.usdc, amount: PRICE_ATOMS });
    const { refusal, earned, order, lane, header } = await scene(stage, {
      transaction: await transactionOf(stage.world, { payer }),
    });
    stage.between.onSettle = async (_call, forward) => {
      await solana.pay(PRICE_ATOMS, { payer, payee: solana.payer.address });
      return forward();
    };
    expect(summaryOf(await refusal())).toMatchObject({ code: 'payment_failed', stage: 'settle' });
    expect([await earned(), order.url, lane, header].slice(0, 1)).toEqual([0n]);
  });
});

describe('what the chain shows', () => {
  const settled = async ({ world }: Stage) => {
    const wire = await world.solana.sign(PRICE_ATOMS, { memo: newMemo() });
    const outcome = world.solana.node.ledger.submit(wire);
    if ('refused' in outcome) throw new Error('the chain executes it');
    const { ledger } = world.solana.node;
    await waitUntil(
      'it is final',
      () => ledger.slot('finalized') >= (ledger.place(outcome.signature)?.slot ?? 1e9),
    );
    return { wire, transaction: outcome.signature };
  };
  const question = ({ world }: Stage, wire: Uint8Array): SettlementQuestion => {
    const { chain, token, payTo } = world.accepted;
    const nonce = digestOf(messageIn(base64(wire)) ?? new Uint8Array());
    const id = { chain, asset: token.address, payer: world.solana.payer.address, nonce };
    return { id, payTo, amount: String(PRICE_ATOMS), sinceMs: Date.now() };
  };
  const lookUp = ({ world }: Stage, asked: SettlementQuestion) =>
    createSolanaConfirmer(world.accepted).lookUp(asked);

  test('of a payment, named by the facilitator or not', async ({ stage }) => {
    const { wire, transaction } = await settled(stage);
    const asked = question(stage, wire);
    for (const claimed of [{}, { claimed: transaction }])
      expect(await lookUp(stage, { ...asked, ...claimed })).toEqual({ outcome: 'settled', transaction });
    expect(await lookUp(stage, { ...asked, amount: '1001' })).toEqual({ outcome: 'spent_otherwise' });
    const { solana } = stage.world;
    const others = {
      payTo: solana.payer.address,
      id: { ...asked.id, asset: asked.payTo as typeof asked.id.asset },
    };
    expect(await lookUp(stage, { ...asked, payTo: others.payTo })).toEqual({ outcome: 'spent_otherwise' });
    expect(await lookUp(stage, { ...asked, id: others.id })).toEqual({ outcome: 'spent_otherwise' });
  });

  test('of a transaction that another message names is nothing', async ({ stage }) => {
    const { transaction } = await settled(stage);
    const other = await stage.world.solana.sign(PRICE_ATOMS, { memo: newMemo() });
    const asked = { ...question(stage, other), claimed: transaction };
    expect(await lookUp(stage, asked)).toEqual({ outcome: 'unsettled' });
  });

  test('of a transaction that failed is that it never pays', async ({ stage }) => {
    const wire = await stage.world.solana.sign(10n ** 15n, { memo: newMemo() });
    const { ledger } = stage.world.solana.node;
    const outcome = ledger.submit(wire);
    if ('refused' in outcome) throw new Error('the chain takes its fee');
    await waitUntil(
      'it is final',
      () => ledger.slot('finalized') >= (ledger.place(outcome.signature)?.slot ?? 1e9),
    );
    expect(await lookUp(stage, question(stage, wire))).toEqual({ outcome: 'spent_otherwise' });
  });

  test('of a message that no block took is that it has ended, once the blocks that could have are past', async ({
    stage,
  }) => {
    const { ledger } = stage.world.solana.node;
    for (let made = 0; made < 310; made++) ledger.produce({ time: Math.floor(Date.now() / 1_000) });
    const asked = question(stage, await stage.world.solana.sign(PRICE_ATOMS, { memo: newMemo() }));
    expect(await lookUp(stage, asked)).toEqual({ outcome: 'unsettled' });
    expect(await lookUp(stage, { ...asked, sinceMs: asked.sinceMs - 600_000 })).toEqual({ outcome: 'ended' });
  });

  test('is nothing where no node answers', async () => {
    const silent = createSolanaConfirmer({ rpcUrls: ['http://127.0.0.1:1'] });
    const id = { chain: 'solana:x', asset: 'x', payer: 'x', nonce: '0x' };
    expect(await silent.lookUp({ id, payTo: 'x', amount: '1', sinceMs: 0 })).toEqual({ outcome: 'silent' });
  });
});

test('no log line and no failure of all these tests holds a transaction or a URL', ({ stage }) => {
  const { text, secrets } = stage.told();
  expect(secrets.length).toBeGreaterThan(1);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});

function sends({ solana: { payer, payee } }: SolanaLaneWorld): Instruction {
  return getTransferSolInstruction({ source: payer, destination: payee, amount: 1n });
}

function ofSmartWallet(): Instruction {
  const [program] = SMART_WALLET_PROGRAMS;
  return { programAddress: program as Instruction['programAddress'], accounts: [], data: Uint8Array.of(1) }; // an address
}

function lookupTablesOf({ solana: { usdc, payer } }: SolanaLaneWorld): AddressesByLookupTableAddress {
  return { [payer.address]: [usdc] };
}

function signedNote({ solana: { facilitator } }: SolanaLaneWorld): Instruction {
  return {
    programAddress: MEMO_PROGRAM as Instruction['programAddress'], // an address
    accounts: [{ address: facilitator.address, role: AccountRole.READONLY_SIGNER }],
    data: new TextEncoder().encode('a note'),
  };
}
