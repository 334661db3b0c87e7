import { describe, expect, test } from 'vitest';
import { type Address, address, type Hash } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { BATCH_SETTLEMENT } from '../../../core/domain/settlement.ts';
import { channelContractsOf, NO_TERMS } from '../../../ingest/decode/channels/moves.ts';
import { channelConfigForm, paymentInfoForm } from '../../../ingest/decode/channels/terms.ts';
import { decodeBatch } from '../../../ingest/decode/settlements.ts';
import {
  addressWord,
  batchOf,
  type Event,
  TOKENS,
  transfer,
  USDC,
  used,
  wallet,
  word,
} from '../../kit/chain-logs.ts';

/**
 * The logs of each collector in the order of the published contracts (base/commerce-payments 3f77761c, x402-foundation/x402 3d73f63f).
 * Every account is a catalogued payee, so that a transfer which is not recognised as part of its move becomes a row of its own.
 */

const CHAIN = chainOf(8453);
const [PAYER, PAYEE, OPERATOR, FEE] = [wallet(0xa11ce), wallet(0xbea), wallet(0x09), wallet(0xfee5)];
const [COLLECTOR, STORE, OTHER] = [wallet(0xc0), wallet(0x5703e), wallet(0x0713)];
const AMOUNT = 6_000;

const rowsOf = (events: readonly Event[], input = '0x') =>
  decodeBatch(batchOf([[{ events, input }]]), {
    chain: CHAIN,
    tokens: new Map(TOKENS.map((token) => [token.address, token])),
    proxies: new Set(),
    registries: new Map(),
    channels: channelContractsOf(CHAIN),
    knownTerms: NO_TERMS,
    x402Contracts: new Set(),
    isCataloguedPayee: () => true,
  }).found.map(({ kind, payer, payee, amount, feeAmount }) => ({ kind, payer, payee, amount, feeAmount }));
const row = (kind: string, amount: number, fee = 0) => ({
  kind,
  payer: PAYER,
  payee: PAYEE,
  amount: BigInt(amount),
  feeAmount: BigInt(fee),
});

const digits = (words: readonly string[]): string => words.map((one) => one.slice(2)).join('');
const eventOf = (emitter: Address, topics: readonly Hash[], words: readonly string[]): Event => ({
  address: emitter,
  topics: [...topics],
  data: `0x${digits(words)}`,
});

const INFO = [
  ...[OPERATOR, PAYER, PAYEE, USDC].map(addressWord),
  ...[12_000, 2 ** 40, 2 ** 40, 2 ** 40, 0, 10_000].map(word),
  addressWord(FEE),
  word(7),
];

/** How the tokens reach the operator's store. */
const PULLS: Readonly<Record<string, readonly Event[]>> = {
  'EIP-3009': [used(PAYER), transfer(PAYER, COLLECTOR, AMOUNT), transfer(COLLECTOR, STORE, AMOUNT)],
  'EIP-3009 for more': [
    used(PAYER),
    transfer(PAYER, COLLECTOR, 10_000),
    transfer(COLLECTOR, PAYER, 4_000),
    transfer(COLLECTOR, STORE, AMOUNT),
  ],
  'EIP-3009 for twice as much': [
    used(PAYER),
    transfer(PAYER, COLLECTOR, 2 * AMOUNT),
    transfer(COLLECTOR, PAYER, AMOUNT),
    transfer(COLLECTOR, STORE, AMOUNT),
  ],
  'a collector of others that returns the excess last': [
    used(PAYER),
    transfer(PAYER, COLLECTOR, 10_000),
    transfer(COLLECTOR, STORE, AMOUNT),
    transfer(COLLECTOR, PAYER, 4_000),
  ],
  'Permit2 or a pre-approval': [transfer(PAYER, STORE, AMOUNT)],
  'a spend permission': [transfer(PAYER, COLLECTOR, AMOUNT), transfer(COLLECTOR, STORE, AMOUNT)],
};

const ESCROWS = [
  {
    version: '1.0',
    escrow: address('0xbdea0d1bcc5966192b070fdf62ab4ef5b4420cff'),
    charged: '0x943ae4341dd799d7aeedc501f616cd26b134639e0bc2ec059581ba3ebbf1e7d0',
    captured: '0xe749f7bbd01b49bb05abf26ca492cb4dfdea6bedeada8a40fdccd478c73a74e2',
    feeWord: (fee: number) => word((fee * 10_000) / AMOUNT), // basis points
  },
  {
    version: '1.1',
    escrow: address('0xf96815976523e00e65be8f34ca5e64b4f41eb19c'),
    charged: '0x137b0e73e4453f43c2e1ad2552980a0e0c7e988764619974ca26d37a7159940c',
    captured: '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e',
    feeWord: word,
  },
] as const;
const AUTHORIZED = '0x1c81fb2e3bab27f6bb09bee9a0dddf61600b7cbaf2c12683e4864e0cbdb9d284';
const STORE_CREATED = '0xd8699a107a4fe8ea740423e52159bafb235249dce5c2df55fa265db06964d136';
const REFUNDED = '0x1bf415371b303ca6b8bbb4ce479b177cba5ad15dbe0c9a7750a588aa6bcd25b2';

describe.each(ESCROWS)('AuthCaptureEscrow $version', ({ escrow, charged, captured, feeWord }) => {
  const id = paymentInfoForm(CHAIN, escrow).idOf(digits(INFO));
  const created = eventOf(escrow, [STORE_CREATED, addressWord(OPERATOR)], [addressWord(STORE)]);
  const sent = (fee: number): Event[] => [
    created,
    ...(fee > 0 ? [transfer(STORE, FEE, fee)] : []),
    ...(fee < AMOUNT ? [transfer(STORE, PAYEE, AMOUNT - fee)] : []),
  ];

  test.each(Object.entries(PULLS))('collected by %s: one row, whatever its transfers', (_, pull) => {
    const info = [...INFO, word(AMOUNT), addressWord(COLLECTOR)];
    expect(rowsOf([eventOf(escrow, [AUTHORIZED, id], info), ...pull])).toEqual([row('deposit', AMOUNT)]);
    for (const fee of [0, 60, AMOUNT]) {
      const event = eventOf(escrow, [charged, id], [...info, feeWord(fee), addressWord(FEE)]);
      expect(rowsOf([event, ...pull, ...sent(fee)])).toEqual([row('payment', AMOUNT, fee)]);
    }
  });

  test('a capture is one row, also where the fee takes all of it', () => {
    for (const fee of [0, 60, AMOUNT]) {
      const event = eventOf(escrow, [captured, id], [word(AMOUNT), feeWord(fee), addressWord(FEE)]);
      expect(rowsOf([event, ...sent(fee)], `0x${digits(INFO)}`)).toEqual([row('payment', AMOUNT, fee)]);
    }
  });

  test('a refund that the operator pays is one row', () => {
    const event = eventOf(escrow, [REFUNDED, id], [word(AMOUNT), addressWord(COLLECTOR)]);
    const paid = [transfer(OPERATOR, STORE, AMOUNT), created, transfer(STORE, PAYER, AMOUNT)];
    expect(rowsOf([event, ...paid], `0x${digits(INFO)}`)).toEqual([row('refund', AMOUNT)]);
  });
});

describe('x402BatchSettlement', () => {
  const CONFIG = [...[PAYER, PAYER, PAYEE, PAYEE, USDC].map(addressWord), word(900), word(1)];
  const id = channelConfigForm(CHAIN, BATCH_SETTLEMENT).idOf(digits(CONFIG));
  const deposited = [
    eventOf(
      BATCH_SETTLEMENT,
      ['0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa', id],
      CONFIG,
    ),
    eventOf(
      BATCH_SETTLEMENT,
      ['0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89', id, addressWord(OPERATOR)],
      [word(AMOUNT), word(AMOUNT)],
    ),
  ];

  test.each([
    [
      'EIP-3009',
      [used(PAYER), transfer(PAYER, COLLECTOR, AMOUNT), transfer(COLLECTOR, BATCH_SETTLEMENT, AMOUNT)],
    ],
    ['Permit2', [transfer(PAYER, BATCH_SETTLEMENT, AMOUNT)]],
  ])('a deposit by %s is one row', (_, pull) => {
    expect(rowsOf([...pull, ...deposited])).toEqual([row('deposit', AMOUNT)]);
  });

  test('what a payer received before depositing as much by Permit2 stays a payment', () => {
    const received = [used(OTHER), transfer(OTHER, PAYER, AMOUNT)];
    expect(rowsOf([...received, transfer(PAYER, BATCH_SETTLEMENT, AMOUNT), ...deposited])).toEqual([
      { ...row('payment', AMOUNT), payer: OTHER, payee: PAYER },
      row('deposit', AMOUNT),
    ]);
  });
});
