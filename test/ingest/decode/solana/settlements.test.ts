import { describe, expect, test } from 'vitest';
import { LIGHTHOUSE_PROGRAM } from '../../../../core/domain/solana-programs.ts';
import { checkBalances } from '../../../../ingest/chain/solana/check-balances.ts';
import { readBlock } from '../../../../ingest/chain/solana/read-block.ts';
import { MEMO_MAX_BYTES } from '../../../../ingest/decode/solana/memo.ts';
import {
  decodeSlots,
  POSITIONS_PER_TRANSACTION,
  type SolanaContext,
} from '../../../../ingest/decode/solana/settlements.ts';
import {
  account,
  batch,
  blockJson,
  type JsonInstruction,
  type JsonTransaction,
  memo,
  OTHER_MINT,
  PYUSD,
  plainTransfer,
  SLOT,
  signatureOf,
  transactionJson,
  transferChecked,
  transferWithFee,
  USDC,
  unitLimit,
  unitPrice,
} from '../../../kit/solana-json.ts';

const context: SolanaContext = {
  chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  tokens: new Map([USDC, PYUSD].map((token) => [token.address as string, token])),
  isCataloguedPayee: (payee) => payee === account('catalogued'),
};
const filter = { mints: new Set<string>([USDC.address, PYUSD.address]), isCandidate: () => true };

function decode(transactions: readonly JsonTransaction[], asOf: Partial<SolanaContext> = {}) {
  const answer = readBlock(blockJson(transactions.map(transactionJson)), SLOT, filter, true);
  for (const transaction of answer.moving) checkBalances(transaction, filter.mints);
  const block = { ...answer, time: answer.time ?? 0 };
  return decodeSlots({ blocks: [block] }, { ...context, ...asOf });
}

const A_SMART_WALLET = 'SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf';
const A_TRADE = account('a program that trades');

const paid = { from: 'alice account', to: 'shop account', amount: 1_000n } as const;
const own = { 'alice account': { owner: 'alice', before: 5_000n, after: 4_000n } };
const shop = { 'shop account': { owner: 'shop', before: 7n, after: 1_007n } };

/** A payment as the official client makes it. */
const EXACT: JsonTransaction = {
  feePayer: 'facilitator',
  instructions: [unitLimit, unitPrice, transferChecked(paid), memo('note')],
  balances: { ...own, ...shop },
};

const through = (program: string, inner: readonly JsonInstruction[]): JsonInstruction => ({
  program,
  accounts: ['wallet account'],
  data: Uint8Array.from([1]),
  inner,
});

describe('what a payment is', () => {
  test('a payment of the official client is one row, of the owners and not of their token accounts', () => {
    const signature = signatureOf('first');
    const { found, deadLetters } = decode([{ ...EXACT, signature }]);
    expect(deadLetters).toEqual([]);
    expect(found).toEqual([
      {
        blockTime: 1_790_000_000,
        chain: context.chain,
        blockNumber: SLOT,
        logIndex: 2,
        txHash: signature,
        payer: account('alice'),
        payee: account('shop'),
        asset: USDC.address,
        assetSymbol: 'USDC',
        amount: 1_000n,
        amountUsdMicros: 1_000n,
        usdKnown: true,
        relayer: account('facilitator'),
        builderFacilitator: '',
        builderApps: '',
        kind: 'payment',
        scheme: 'exact',
        channel: '0x',
        contract: '0x',
        feeAmount: 0n,
        memo: 'note',
        marker: 'sponsored_exact',
        relayedByPayer: false,
        relayedByPayee: false,
        selfPayment: false,
        directCall: true,
        received: false,
        viaX402Contract: false,
      },
    ]);
  });

  test.each([
    ['none', [], ''],
    ['one', ['a "note"\u0000 Ü'], 'a "note"\u0000 Ü'],
    ['several', ['first', 'second'], 'first\nsecond'],
    ['the longest that is kept whole', ['Ü'.repeat(283)], 'Ü'.repeat(283)],
    ['a longer one, cut between characters', ['Ü'.repeat(284)], `${'Ü'.repeat(275)}… (568 bytes)`],
  ])('of the notes of a transaction, a row has %s', (_, notes, kept) => {
    const instructions = [unitLimit, unitPrice, transferChecked(paid), ...notes.map(memo)];
    const { found } = decode([{ ...EXACT, instructions }]);
    expect(found.map((row) => row.memo)).toEqual([kept]);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(MEMO_MAX_BYTES);
  });

  interface Case {
    readonly transaction: Partial<JsonTransaction>;
    /** `payer payee amount marker` of each row; the rest is as in EXACT. */
    readonly rows: readonly string[];
  }
  const ONE = 'alice shop 1000 sponsored_exact';
  const CASES: Readonly<Record<string, Case>> = {
    'assertions of a wallet and a note follow': {
      transaction: {
        instructions: [
          unitLimit,
          unitPrice,
          transferChecked(paid),
          through(LIGHTHOUSE_PROGRAM, []),
          through(LIGHTHOUSE_PROGRAM, []),
          memo('note'),
        ],
      },
      rows: [ONE],
    },
    'the payee pays the fee': { transaction: { feePayer: 'shop' }, rows: [ONE] },
    'the fee payer is named by an instruction: another form': {
      transaction: {
        instructions: [unitLimit, unitPrice, transferChecked({ ...paid, authority: 'facilitator' })],
      },
      rows: ['alice shop 1000 sponsored'],
    },
    'more instructions than the scheme has: another form': {
      transaction: {
        instructions: [
          unitLimit,
          unitPrice,
          transferChecked(paid),
          ...Array.from({ length: 5 }, () => memo('note')),
        ],
      },
      rows: ['alice shop 1000 sponsored'],
    },
    'no limit of units: another form': {
      transaction: { instructions: [transferChecked(paid)] },
      rows: ['alice shop 1000 sponsored'],
    },
    'the payer pays the fee: no payment': { transaction: { feePayer: 'alice' }, rows: [] },
    'the payer pays the fee, to a catalogued payee: a plain transfer': {
      transaction: {
        feePayer: 'alice',
        balances: { ...own, 'shop account': { owner: 'catalogued', before: 7n, after: 1_007n } },
      },
      rows: ['alice catalogued 1000 none'],
    },
    'a delegate or a program signs for the payer': {
      transaction: {
        instructions: [unitLimit, unitPrice, transferChecked({ ...paid, authority: 'a delegate' })],
      },
      rows: [ONE],
    },
    'the account of the payee is opened in the transaction': {
      transaction: {
        balances: { ...own, 'shop account': { owner: 'shop', after: 1_000n } },
      },
      rows: [ONE],
    },
    'the account of the payer is closed in the transaction': {
      transaction: {
        balances: { ...shop, 'alice account': { owner: 'alice', before: 1_000n } },
      },
      rows: [ONE],
    },
    'accounts of lookup tables, writable before read-only': {
      transaction: { looked: { writable: ['alice account', 'shop account'], readonly: [USDC.address] } },
      rows: [ONE],
    },
    'a transaction that failed leaves nothing': {
      transaction: { err: { InstructionError: [2, 'Custom'] } },
      rows: [],
    },
    'a token that is not listed leaves nothing': {
      transaction: {
        instructions: [unitLimit, unitPrice, transferChecked({ ...paid, token: { address: OTHER_MINT } })],
        balances: {
          'alice account': { owner: 'alice', token: { address: OTHER_MINT }, before: 5_000n, after: 4_000n },
          'shop account': { owner: 'shop', token: { address: OTHER_MINT }, before: 7n, after: 1_007n },
        },
      },
      rows: [],
    },
    'a plain transfer of the message is none of the scheme': {
      transaction: { instructions: [unitLimit, unitPrice, plainTransfer(paid)] },
      rows: [],
    },
    'the plain transfer of a smart wallet': {
      transaction: { instructions: [unitLimit, unitPrice, through(A_SMART_WALLET, [plainTransfer(paid)])] },
      rows: [ONE],
    },
    'the checked transfer of a smart wallet': {
      transaction: {
        instructions: [through(A_SMART_WALLET, [through(A_SMART_WALLET, [transferChecked(paid)])])],
      },
      rows: [ONE],
    },
    'the transfer of another program is a leg of a trade': {
      transaction: { instructions: [unitLimit, unitPrice, through(A_TRADE, [transferChecked(paid)])] },
      rows: [],
    },
    'of a smart wallet next to another program as well': {
      transaction: { instructions: [through(A_SMART_WALLET, [transferChecked(paid)]), through(A_TRADE, [])] },
      rows: [],
    },
    'two transfers: two rows, of another form': {
      transaction: {
        instructions: [unitLimit, unitPrice, transferChecked(paid), transferChecked({ ...paid, amount: 5n })],
        balances: {
          'alice account': { owner: 'alice', before: 5_000n, after: 3_995n },
          'shop account': { owner: 'shop', before: 7n, after: 1_012n },
        },
      },
      rows: ['alice shop 1000 sponsored', 'alice shop 5 sponsored'],
    },
    'the parts of a batch': {
      transaction: {
        instructions: [batch([transferChecked(paid), plainTransfer({ ...paid, amount: 5n })])],
        balances: {
          'alice account': { owner: 'alice', before: 5_000n, after: 3_995n },
          'shop account': { owner: 'shop', before: 7n, after: 1_012n },
        },
      },
      rows: ['alice shop 1000 sponsored'],
    },
    'a payment to oneself': {
      transaction: {
        balances: {
          'alice account': { owner: 'alice', before: 5_000n, after: 4_000n },
          'shop account': { owner: 'alice', before: 7n, after: 1_007n },
        },
      },
      rows: ['alice alice 1000 sponsored_exact'],
    },
  };

  test.each(Object.keys(CASES))('%s', (name) => {
    const { transaction, rows } = CASES[name] as Case;
    const { found, deadLetters } = decode([{ ...EXACT, ...transaction }]);
    expect(deadLetters).toEqual([]);
    expect(found.map(({ payer, payee, amount, marker }) => [payer, payee, amount, marker])).toEqual(
      rows.map((row) => {
        const [payer = '', payee = '', amount = '', marker] = row.split(' ');
        return [account(payer), account(payee), BigInt(amount), marker];
      }),
    );
  });
});

describe('what arrives of a token that withholds', () => {
  const token = PYUSD;
  const moved = { ...paid, token };
  const alice = { owner: 'alice', token, before: 5_000n, after: 4_000n };

  test('is what the balance of the payee has more', () => {
    const { found } = decode([
      {
        ...EXACT,
        instructions: [unitLimit, unitPrice, transferChecked(moved)],
        balances: {
          'alice account': alice,
          'shop account': { owner: 'shop', token, before: 0n, after: 990n },
        },
      },
    ]);
    expect(found.map(({ amount, asset }) => [amount, asset])).toEqual([[990n, PYUSD.address]]);
  });

  test('is the amount less the fee where the instruction names it', () => {
    const { found } = decode([
      {
        ...EXACT,
        instructions: [unitLimit, unitPrice, transferWithFee(moved, 10n)],
        balances: {
          'alice account': alice,
          'shop account': { owner: 'shop', token, before: 0n, after: 990n },
        },
      },
    ]);
    expect(found.map(({ amount }) => amount)).toEqual([990n]);
  });

  test('cannot be told where two transfers came in and a part is missing', () => {
    const { found, deadLetters } = decode([
      {
        ...EXACT,
        instructions: [transferChecked(moved), transferChecked(moved)],
        balances: {
          'alice account': { ...alice, after: 3_000n },
          'shop account': { owner: 'shop', token, before: 0n, after: 1_980n },
        },
      },
    ]);
    expect(found).toEqual([]);
    expect(deadLetters.map(({ reason }) => reason)).toEqual(['unclear_transfer', 'unclear_transfer']);
  });

  test('is each amount where two came in whole', () => {
    const { found } = decode([
      {
        ...EXACT,
        instructions: [transferChecked(moved), transferChecked({ ...moved, amount: 5n })],
        balances: {
          'alice account': { ...alice, after: 3_995n },
          'shop account': { owner: 'shop', token, before: 0n, after: 1_005n },
        },
      },
    ]);
    expect(found.map(({ amount }) => amount)).toEqual([1_000n, 5n]);
  });
});

describe('places in a block', () => {
  test('count by transaction and by the order in which instructions run', () => {
    const second = {
      ...EXACT,
      signature: signatureOf('second'),
      instructions: [through(A_SMART_WALLET, [through(A_SMART_WALLET, [transferChecked(paid)])])],
    };
    const { found } = decode([
      { ...EXACT, signature: signatureOf('vote'), err: 'failed' },
      {
        ...second,
        balances: { 'alice account': { owner: 'alice', before: 5_000n, after: 4_000n }, ...shop },
      },
    ]);
    expect(found.map(({ logIndex }) => logIndex)).toEqual([POSITIONS_PER_TRANSACTION + 2]);
  });

  test('one that does not fit is refused and not wrapped', () => {
    const [transaction] = [EXACT].map(transactionJson);
    const answer = readBlock(blockJson([transaction ?? {}]), SLOT, filter, true);
    const [first] = answer.transactions;
    if (first === undefined) throw new Error('it is kept');
    const at = (changed: object) =>
      decodeSlots({ blocks: [{ ...answer, time: 1, transactions: [{ ...first, ...changed }] }] }, context);
    const moves = first.moves.map((move) => ({ ...move, position: POSITIONS_PER_TRANSACTION }));
    const late = at({ moves });
    expect(late.found).toEqual([]);
    expect(late.deadLetters).toMatchObject([
      { reason: 'unclear_transfer', logIndex: POSITIONS_PER_TRANSACTION - 1 },
    ]);
    const many = at({ index: 2 ** 22 });
    expect(many.found).toEqual([]);
    expect(many.deadLetters).toMatchObject([{ reason: 'unclear_transfer', logIndex: 2 ** 32 - 1 }]);
  });
});

test('owners that the transaction does not name make a dead letter that says where', () => {
  const answer = readBlock(blockJson([transactionJson(EXACT)]), SLOT, filter, true);
  const transactions = answer.transactions.map((one) => ({ ...one, balances: new Map() }));
  const { found, deadLetters } = decodeSlots({ blocks: [{ ...answer, time: 1, transactions }] }, context);
  expect(found).toEqual([]);
  expect(deadLetters).toMatchObject([{ reason: 'unclear_transfer', logIndex: 2, blockNumber: SLOT }]);
  expect(JSON.parse(deadLetters[0]?.rawLog ?? '')).toMatchObject({
    source: account('alice account'),
    destination: account('shop account'),
    mint: USDC.address,
    amount: '1000',
  });
});

test('an instruction longer than any of the program is refused where a listed token is touched', () => {
  const long = { ...transferChecked(paid), data: Uint8Array.from([12, ...new Array(600).fill(0)]) };
  const { found, deadLetters } = decode([{ ...EXACT, instructions: [unitLimit, unitPrice, long] }]);
  expect(found).toEqual([]);
  expect(deadLetters).toMatchObject([{ reason: 'malformed_log', logIndex: 2 }]);
});

test('a text in the place of an account makes a dead letter, not a row', () => {
  const answer = readBlock(blockJson([transactionJson(EXACT)]), SLOT, filter, true);
  const transactions = answer.transactions.map((one) => ({
    ...one,
    balances: new Map([...one.balances].map(([at, balance]) => [at, { ...balance, ownerBefore: 'nobody' }])),
  }));
  const { found, deadLetters } = decodeSlots({ blocks: [{ ...answer, time: 1, transactions }] }, context);
  expect([found.length, deadLetters.length]).toEqual([0, 1]);
});
