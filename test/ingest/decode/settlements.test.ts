import { describe, expect, test } from 'vitest';
import { address } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import type { BlockBatch } from '../../../ingest/chain/block-source.ts';
import { channelContractsOf, NO_TERMS } from '../../../ingest/decode/channels/moves.ts';
import { type DecodeContext, rawLogDataMaxChars } from '../../../ingest/decode/context.ts';
import { TOPIC } from '../../../ingest/decode/log-kind.ts';
import { decodeBatch } from '../../../ingest/decode/settlements.ts';
import {
  batchOf,
  blockRef,
  callData,
  EURC,
  PROXY,
  RELAYER,
  ROUTER,
  settled,
  TOKENS,
  type Transaction,
  tokenFacts,
  transfer,
  USDC,
  used,
  wallet,
  word,
} from '../../kit/chain-logs.ts';

const [ALICE, BOB, SHOP, CAFE] = [wallet(0xa11ce), wallet(0xb0b), wallet(0x5409), wallet(0xcafe)];

const context = (over: Partial<DecodeContext> = {}): DecodeContext => ({
  chain: chainOf(8453),
  tokens: new Map(TOKENS.map((token) => [token.address, token])),
  proxies: new Set([PROXY]),
  registries: new Map(),
  channels: channelContractsOf(chainOf(8453)),
  knownTerms: NO_TERMS,
  x402Contracts: new Set([PROXY, ROUTER]),
  isCataloguedPayee: (payee) => payee === CAFE,
  ...over,
});

const decode = (...transactions: readonly Transaction[]) => decodeBatch(batchOf([transactions]), context());

/** What a test compares: who paid whom how much, marked how. */
const payments = (...transactions: readonly Transaction[]) =>
  decode(...transactions).found.map(({ payer, payee, amount, marker, logIndex }) => ({
    payer,
    payee,
    amount,
    marker,
    logIndex,
  }));

const payment = (
  payer: string,
  payee: string,
  amount: number,
  logIndex: number,
  marker = 'authorization',
) => ({
  payer,
  payee,
  amount: BigInt(amount),
  marker,
  logIndex,
});

describe('pairing', () => {
  test("Circle's order, AuthorizationUsed then Transfer, is one payment at the transfer's index", () => {
    expect(payments({ events: [used(ALICE), transfer(ALICE, SHOP, 10)] })).toEqual([
      payment(ALICE, SHOP, 10, 1),
    ]);
  });

  test('the reverse order is the same payment', () => {
    expect(payments({ events: [transfer(ALICE, SHOP, 10), used(ALICE)] })).toEqual([
      payment(ALICE, SHOP, 10, 0),
    ]);
  });

  test('a batch of two payers yields both payments', () => {
    const events = [used(ALICE), transfer(ALICE, SHOP, 1), used(BOB), transfer(BOB, SHOP, 2)];
    expect(payments({ events })).toEqual([payment(ALICE, SHOP, 1, 1), payment(BOB, SHOP, 2, 3)]);
  });

  test('two payments of one payer in the reverse order yield both, not the second one twice', () => {
    const events = [transfer(ALICE, SHOP, 1), used(ALICE, 1), transfer(ALICE, BOB, 2), used(ALICE, 2)];
    expect(payments({ events })).toEqual([payment(ALICE, SHOP, 1, 0), payment(ALICE, BOB, 2, 2)]);
    expect(decode({ events }).deadLetters).toEqual([]);
  });

  test('the reverse reading takes back what the forward reading had taken', () => {
    const events = [
      transfer(ALICE, SHOP, 1),
      used(ALICE),
      transfer(ALICE, CAFE, 99),
      transfer(BOB, SHOP, 2),
      used(BOB, 1),
      transfer(BOB, SHOP, 3),
      used(BOB, 2),
    ];
    expect(payments({ events })).toEqual([
      payment(ALICE, SHOP, 1, 0),
      payment(ALICE, CAFE, 99, 2, 'none'),
      payment(BOB, SHOP, 2, 3),
      payment(BOB, SHOP, 3, 5),
    ]);
  });

  test('a transfer before an authorization belongs to it only when it stands directly before', () => {
    const batch = batchOf([[{ events: [transfer(ALICE, SHOP, 1), used(ALICE)] }]]);
    const apart = { ...batch, logs: batch.logs.map((log) => ({ ...log, logIndex: 3 * log.logIndex })) };
    const { found, deadLetters } = decodeBatch(apart, context());
    expect([found.length, deadLetters.map(({ reason }) => reason)]).toEqual([0, ['unpaired_authorization']]);
  });

  test('tokens of one transaction are paired apart', () => {
    const events = [
      used(ALICE, 1, USDC),
      used(ALICE, 1, EURC),
      transfer(ALICE, SHOP, 2, EURC),
      transfer(ALICE, BOB, 1),
    ];
    expect(decode({ events }).found.map(({ assetSymbol, payee }) => [assetSymbol, payee])).toEqual([
      ['EURC', SHOP],
      ['USDC', BOB],
    ]);
  });

  test('an authorization never takes a transfer of another transaction', () => {
    const { found, deadLetters } = decode({ events: [used(ALICE)] }, { events: [transfer(ALICE, SHOP, 1)] });
    expect([found.length, deadLetters.map(({ reason }) => reason)]).toEqual([0, ['unpaired_authorization']]);
  });

  test('an authorization never takes what another sender moved', () => {
    const { found, deadLetters } = decode({ events: [used(ALICE), transfer(BOB, SHOP, 1)] });
    expect([found.length, deadLetters.length]).toEqual([0, 1]);
  });

  test('a transfer is taken once', () => {
    const { found, deadLetters } = decode({
      events: [used(ALICE, 1), transfer(ALICE, SHOP, 1), used(ALICE, 2)],
    });
    expect(found).toHaveLength(1);
    expect(deadLetters.map(({ reason, logIndex }) => [reason, logIndex])).toEqual([
      ['unpaired_authorization', 2],
    ]);
  });

  test('zero amounts and payments to oneself are payments', () => {
    const events = [used(ALICE), transfer(ALICE, SHOP, 0), used(BOB), transfer(BOB, BOB, 5)];
    const { found } = decode({ events });
    expect(found.map(({ amount, selfPayment }) => [amount, selfPayment])).toEqual([
      [0n, false],
      [5n, true],
    ]);
  });
});

describe('the scheme of a payment', () => {
  const UPTO = address('0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002');
  const proxies = new Set([PROXY, UPTO]);
  const schemes = (...events: Transaction['events']) =>
    decodeBatch(batchOf([[{ to: ROUTER, events }]]), context({ proxies })).found.map(
      ({ scheme, channel }) => [scheme, channel],
    );

  test('follows from the authorization, and from the proxy that settled it', () => {
    expect(schemes(used(ALICE), transfer(ALICE, SHOP, 1))).toEqual([['exact', '0x']]);
    expect(schemes(transfer(ALICE, SHOP, 1), settled())).toEqual([['exact-permit2', '0x']]);
    expect(schemes(transfer(ALICE, SHOP, 1), settled(TOPIC.permit2Settled, UPTO))).toEqual([['upto', '0x']]);
    expect(schemes(transfer(ALICE, CAFE, 1))).toEqual([['unknown', '0x']]);
  });

  test('of two proxies in one transaction is that of each', () => {
    expect(
      schemes(
        transfer(ALICE, SHOP, 1),
        settled(TOPIC.permit2Settled, UPTO),
        transfer(BOB, SHOP, 2),
        settled(),
      ).map(([scheme]) => scheme),
    ).toEqual(['upto', 'exact-permit2']);
  });
});

describe('Permit2 proxies', () => {
  test.each([TOPIC.permit2Settled, TOPIC.permit2SettledWithPermit])(
    'the transfer before %s is a payment through an x402 contract',
    (topic) => {
      const { found } = decode({ to: PROXY, events: [transfer(ALICE, SHOP, 3), settled(topic)] });
      expect(found).toMatchObject([
        { payer: ALICE, marker: 'permit2', viaX402Contract: true, received: false },
      ]);
    },
  );

  test('two settlements in one transaction take one transfer each', () => {
    const events = [transfer(ALICE, SHOP, 1), settled(), transfer(BOB, SHOP, 2), settled()];
    expect(payments({ events })).toEqual([
      payment(ALICE, SHOP, 1, 0, 'permit2'),
      payment(BOB, SHOP, 2, 2, 'permit2'),
    ]);
  });

  test('a proxy never reaches behind the previous proxy event', () => {
    const events = [transfer(ALICE, SHOP, 1), transfer(BOB, SHOP, 2), settled(), settled()];
    expect(payments({ events })).toEqual([payment(BOB, SHOP, 2, 1, 'permit2')]);
  });

  test('a proxy never reaches into another transaction', () => {
    expect(payments({ events: [transfer(ALICE, SHOP, 1)] }, { events: [settled()] })).toEqual([]);
  });

  test('a proxy behind a router still makes it a payment through an x402 contract', () => {
    const { found } = decode({ to: BOB, events: [transfer(ALICE, SHOP, 3), settled()] });
    expect(found).toMatchObject([{ viaX402Contract: true, directCall: false }]);
  });

  test('a proxy takes the nearest transfer that no authorization explains', () => {
    const events = [transfer(BOB, SHOP, 2), used(ALICE), transfer(ALICE, SHOP, 1), settled()];
    expect(payments({ events })).toEqual([payment(BOB, SHOP, 2, 0, 'permit2'), payment(ALICE, SHOP, 1, 2)]);
  });

  test('a settlement in a token that is not listed is a payment without a dollar value', () => {
    const other = wallet(0x70ce);
    const { found, deadLetters } = decode({
      to: PROXY,
      events: [transfer(ALICE, SHOP, 7, other), settled()],
    });
    expect(deadLetters).toEqual([]);
    expect(found).toMatchObject([
      {
        asset: other,
        assetSymbol: '',
        amount: 7n,
        amountUsdMicros: 0n,
        usdKnown: false,
        scheme: 'exact-permit2',
      },
    ]);
  });

  test('a transfer of a token that is not listed is a payment of no authorization', () => {
    const { found, deadLetters } = decode({
      events: [used(ALICE), transfer(ALICE, SHOP, 7, wallet(0x70ce))],
    });
    expect([found.length, deadLetters.map(({ reason }) => reason)]).toEqual([0, ['unpaired_authorization']]);
  });

  test('a settlement whose transfer was not read is a dead letter, which is tried again', () => {
    expect(decode({ to: PROXY, events: [settled()] })).toMatchObject({
      found: [],
      deadLetters: [{ reason: 'unpaired_proxy' }],
    });
  });

  test('Settled of a stranger marks nothing', () => {
    expect(payments({ events: [transfer(ALICE, SHOP, 3), settled(TOPIC.permit2Settled, ROUTER)] })).toEqual(
      [],
    );
  });
});

describe('bare transfers', () => {
  test('only those to a catalogued payee become rows', () => {
    const events = [transfer(ALICE, SHOP, 1), transfer(ALICE, CAFE, 2)];
    expect(payments({ events })).toEqual([payment(ALICE, CAFE, 2, 1, 'none')]);
  });

  test('a bare transfer is direct by its own selector and arguments', () => {
    const direct = (input: string) =>
      decode({ to: USDC, input, events: [transfer(ALICE, CAFE, 2)] }).found.map(
        ({ directCall }) => directCall,
      );
    const argumentsOf = (to: string, amount: number) =>
      `${to.slice(2).padStart(64, '0')}${word(amount).slice(2)}`;
    expect(direct(`0xa9059cbb${argumentsOf(CAFE, 2)}`)).toEqual([true]);
    expect(direct(`0xa9059cbb${argumentsOf(CAFE, 3)}`)).toEqual([false]);
    expect(direct(`0x23b872dd${argumentsOf(CAFE, 2)}`)).toEqual([false]);
  });

  test('a called payee that a bare transfer goes to received no authorization', () => {
    const { found } = decode({ to: CAFE, events: [transfer(ALICE, CAFE, 2)] });
    expect(found).toMatchObject([{ marker: 'none', received: false }]);
  });

  test('a payment to a catalogued payee stays a payment', () => {
    expect(payments({ events: [used(ALICE), transfer(ALICE, CAFE, 2)] })).toEqual([
      payment(ALICE, CAFE, 2, 1),
    ]);
  });
});

describe('how the call was made', () => {
  const shape = (tx: Omit<Transaction, 'events'>, payee = SHOP) =>
    decode({ ...tx, events: [used(ALICE), transfer(ALICE, payee, 9)] }).found.map(
      ({ directCall, received, viaX402Contract }) => ({ directCall, received, viaX402Contract }),
    )[0];

  test.each(['0xe3ee160e', '0xcf092995'])('%s to the token is a direct transfer', (selector) => {
    expect(shape({ to: USDC, input: callData(ALICE, SHOP, 9, selector) })).toEqual({
      directCall: true,
      received: false,
      viaX402Contract: false,
    });
  });

  test.each(['0xef55bec6', '0x88b7ab63'])('%s to the token is received by the payee', (selector) => {
    expect(shape({ to: USDC, input: callData(ALICE, SHOP, 9, selector) })).toMatchObject({
      directCall: true,
      received: true,
    });
  });

  test.each([
    ['payer', callData(BOB, SHOP, 9)],
    ['payee', callData(ALICE, BOB, 9)],
    ['amount', callData(ALICE, SHOP, 8)],
    ['selector', callData(ALICE, SHOP, 9, '0x12345678')],
    ['length', callData(ALICE, SHOP, 9).slice(0, 150)],
  ])('calldata to the token with another %s than the log proves no direct call', (_, input) => {
    expect(shape({ to: USDC, input })).toMatchObject({ directCall: false, received: false });
  });

  test('calldata to another contract proves nothing, whatever its selector', () => {
    expect(shape({ to: BOB, input: callData(ALICE, SHOP, 9, '0xef55bec6') })).toMatchObject({
      directCall: false,
      received: false,
    });
  });

  test('a payee contract that is called pulled the payment itself', () => {
    expect(shape({ to: SHOP })).toMatchObject({ directCall: false, received: true });
  });

  test('an x402 settlement router is the first payee without receiving for itself', () => {
    expect(shape({ to: ROUTER }, ROUTER)).toEqual({
      directCall: false,
      received: false,
      viaX402Contract: true,
    });
  });

  test('a contract creation relays a payment like any other contract', () => {
    expect(shape({ to: null })).toEqual({ directCall: false, received: false, viaX402Contract: false });
  });

  test.each([
    [RELAYER, { relayedByPayer: false, relayedByPayee: false }],
    [ALICE, { relayedByPayer: true, relayedByPayee: false }],
    [SHOP, { relayedByPayer: false, relayedByPayee: true }],
  ])('the sender %s is compared with both parties', (from, expected) => {
    const { found } = decode({ from, events: [used(ALICE), transfer(ALICE, SHOP, 9)] });
    expect(found).toMatchObject([{ relayer: from, ...expected }]);
  });

  test('every payment of a transaction carries its builder code', () => {
    const suffix = 'a161776a6364705f666163696c31000e0280218021802180218021802180218021';
    const events = [used(ALICE), transfer(ALICE, SHOP, 1), used(BOB), transfer(BOB, SHOP, 2)];
    const { found } = decode({ input: `0x82ad56cb${suffix}`, events });
    expect(found.map(({ builderFacilitator }) => builderFacilitator)).toEqual(['cdp_facil1', 'cdp_facil1']);
  });
});

describe('dead letters', () => {
  const reasons = (...transactions: readonly Transaction[]) =>
    decode(...transactions).deadLetters.map(({ reason, logIndex }) => [reason, logIndex]);

  test('an amount beyond Decimal(18, 6) is refused with its log, the largest one is kept', () => {
    const huge = transfer(ALICE, SHOP, 10n ** 18n);
    const { found, deadLetters } = decode(
      { events: [used(ALICE), huge] },
      {
        events: [used(ALICE), transfer(ALICE, SHOP, 10n ** 18n - 1n)],
      },
    );
    expect(found.map(({ amountUsdMicros }) => amountUsdMicros)).toEqual([10n ** 18n - 1n]);
    expect(deadLetters).toMatchObject([{ reason: 'amount_out_of_range', logIndex: 1 }]);
    expect(JSON.parse(deadLetters[0]?.rawLog ?? '')).toMatchObject({ ...huge, logIndex: 1 });
  });

  test('the dollar value, not the atomic amount, must fit', () => {
    const coarse = wallet(0x18);
    const dai = context({ tokens: new Map([[coarse, tokenFacts(coarse, 'X', 18)]]) });
    const events = [used(ALICE, 1, coarse), transfer(ALICE, SHOP, 5n * 10n ** 18n, coarse)];
    expect(decodeBatch(batchOf([[{ events }]]), dai).found).toMatchObject([
      { amount: 5n * 10n ** 18n, amountUsdMicros: 5_000_000n },
    ]);
  });

  test('an ERC-721 transfer is another event, not a malformed one of ours', () => {
    const nft = { address: USDC, topics: [TOPIC.transfer, word(1), word(2), word(3)], data: '0x' };
    expect(decode({ events: [nft] })).toEqual({ found: [], registryLogs: [], deadLetters: [] });
  });

  test.each([
    ['two topics', { topics: [TOPIC.transfer, word(1)], data: word(1) }],
    ['no data', { topics: [TOPIC.transfer, word(1), word(2)], data: '0x' }],
    [
      'two words of data',
      { topics: [TOPIC.transfer, word(1), word(2)], data: `${word(1)}${'0'.repeat(64)}` },
    ],
    ['an authorization with data', { topics: [TOPIC.authorizationUsed, word(1), word(2)], data: word(1) }],
    ['an authorization without nonce', { topics: [TOPIC.authorizationUsed, word(1)], data: '0x' }],
  ])('a log of ours with %s is malformed', (_, log) => {
    expect(reasons({ events: [{ address: USDC, ...log }] })).toEqual([['malformed_log', 0]]);
  });

  test('a proxy event with data is malformed', () => {
    expect(reasons({ events: [{ ...settled(), data: word(1) }] })).toEqual([['malformed_log', 0]]);
  });

  test.each([
    ['data that is no number', { ...transfer(ALICE, SHOP, 1), data: `0x${'g'.repeat(64)}` }],
    ['low data that is no number', { ...transfer(ALICE, SHOP, 1), data: `0x${'0'.repeat(60)}-001` }],
  ])('a payment with %s is malformed', (_, log) => {
    expect(reasons({ events: [used(ALICE), log] })).toEqual([['malformed_log', 1]]);
  });

  test('a dead letter of a hostile size is cut, and says so', () => {
    const log = { ...transfer(ALICE, SHOP, 1), data: `0x${'00'.repeat(1_000_000)}` };
    const [letter] = decode({ events: [log] }).deadLetters;
    expect(letter?.rawLog.length).toBeLessThan(rawLogDataMaxChars + 1_000);
    expect(JSON.parse(letter?.rawLog ?? '')).toMatchObject({ truncated: true });
  });

  test('a malformed bare transfer needs neither its block nor its transaction', () => {
    const batch = batchOf([[{ events: [{ ...transfer(ALICE, SHOP, 1), data: '0x' }] }]]);
    const bare = { ...batch, blocks: [], transactions: new Map() };
    expect(decodeBatch(bare, context()).deadLetters).toMatchObject([{ reason: 'malformed_log' }]);
  });
});

describe('a broken source is a bug, not data', () => {
  const batch = batchOf([[{ events: [used(ALICE), transfer(ALICE, SHOP, 1)] }]]);
  const without = (part: Partial<BlockBatch>) => () => decodeBatch({ ...batch, ...part }, context());

  test('a settlement whose transaction is missing throws', () => {
    expect(without({ transactions: new Map() })).toThrow(/lacks transaction/);
  });

  test('a settlement whose block is missing throws', () => {
    expect(without({ blocks: [] })).toThrow(/lacks block 100/);
    expect(without({ blocks: [blockRef(99), blockRef(101)] })).toThrow(/lacks block 100/);
  });
});

test('dirty padding is read as every ABI decoder reads it', () => {
  const dirty = {
    ...transfer(ALICE, SHOP, 1),
    topics: [TOPIC.transfer, word(BigInt(ALICE)), word(2n ** 255n + BigInt(SHOP))],
  };
  expect(payments({ events: [used(ALICE), dirty] })).toEqual([payment(ALICE, SHOP, 1, 1)]);
});

test('blocks without logs are stepped over', () => {
  const pay = { events: [used(ALICE), transfer(ALICE, SHOP, 1)] };
  const batch = batchOf([[], [pay], [], [], [pay, pay]]);
  const { found } = decodeBatch(batch, context());
  expect(found.map(({ blockNumber, blockTime }) => ({ number: blockNumber, time: blockTime }))).toMatchObject(
    [1, 4, 4].map((index) => ({
      number: batch.blocks[index]?.number,
      time: batch.blocks[index]?.time,
    })),
  );
});
