import { base58 } from '@scure/base';
import { type Address, address } from '../../core/domain/account.ts';
import type { TokenFacts } from '../../core/domain/chains.ts';
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../core/domain/solana-programs.ts';

/** Builds the JSON of transactions and blocks of Solana as getBlock answers it, from what moves. */

const keyOf = (label: string): Address => {
  const bytes = new Uint8Array(32);
  new TextEncoder().encodeInto(label, bytes.subarray(1));
  bytes[0] = 1 + (label.length % 200);
  return address(base58.encode(bytes));
};
/** The account behind a label: the same each time. */
export const account = keyOf;

export const signatureOf = (label: string): string =>
  base58.encode(Uint8Array.from([...base58.decode(keyOf(label)), ...base58.decode(keyOf(`${label}'`))]));

const mint = (at: string, symbol: string, paidBy: TokenFacts['paidBy']): TokenFacts => ({
  address: address(at),
  symbol,
  decimals: 6,
  currency: 'USD',
  paidBy,
  domain: null,
});
export const USDC = mint('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC', 'permit2');
export const PYUSD = mint('2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', 'PYUSD', 'permit2');
export const OTHER_MINT = keyOf('a mint that is not listed');

export const programOf = ({ address: at }: { readonly address: Address }): string =>
  at === PYUSD.address ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;

/** An instruction by the labels or addresses of its accounts. */
export interface JsonInstruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  /** What it calls, in the order in which they run. */
  readonly inner?: readonly JsonInstruction[];
}

function u64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

export const unitLimit: JsonInstruction = {
  program: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: Uint8Array.from([2, 32, 78, 0, 0]),
};
export const unitPrice: JsonInstruction = {
  program: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: Uint8Array.from([3, ...u64(1n)]),
};
export const memo = (text: string): JsonInstruction => ({
  program: MEMO_PROGRAM,
  accounts: [],
  data: new TextEncoder().encode(text),
});

export interface Moving {
  readonly from: string;
  readonly to: string;
  readonly token?: Pick<TokenFacts, 'address'>;
  readonly amount: bigint;
  readonly authority?: string;
}

export function transferChecked({
  from,
  to,
  token = USDC,
  amount,
  authority = 'authority',
}: Moving): JsonInstruction {
  return {
    program: programOf(token),
    accounts: [from, token.address, to, authority],
    data: Uint8Array.from([12, ...u64(amount), 6]),
  };
}

export function transferWithFee(moving: Moving, fee: bigint): JsonInstruction {
  return {
    ...transferChecked(moving),
    data: Uint8Array.from([26, 1, ...u64(moving.amount), 6, ...u64(fee)]),
  };
}

export function plainTransfer({
  from,
  to,
  token = USDC,
  amount,
  authority = 'authority',
}: Moving): JsonInstruction {
  return {
    program: programOf(token),
    accounts: [from, to, authority],
    data: Uint8Array.from([3, ...u64(amount)]),
  };
}

/** Several in one, as p-token has them. */
export function batch(parts: readonly JsonInstruction[]): JsonInstruction {
  return {
    program: TOKEN_PROGRAM,
    accounts: parts.flatMap(({ accounts }) => accounts),
    data: Uint8Array.from([
      255,
      ...parts.flatMap(({ accounts, data }) => [accounts.length, data.length, ...data]),
    ]),
  };
}

/** A token account: amounts before and after, absent where it did not exist. */
export interface JsonBalance {
  readonly owner: string;
  readonly token?: Pick<TokenFacts, 'address'>;
  readonly before?: bigint;
  readonly after?: bigint;
}

export interface JsonTransaction {
  readonly feePayer: string;
  readonly instructions: readonly JsonInstruction[];
  readonly balances: Readonly<Record<string, JsonBalance>>;
  readonly signature?: string;
  readonly err?: unknown;
  /** Accounts that the transaction names through lookup tables. */
  readonly looked?: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
}

/** A label becomes its account; an address stays. */
const named = (text: string): string => (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) ? text : keyOf(text));

const labelsOf = ({ program, accounts, inner = [] }: JsonInstruction): string[] => [
  program,
  ...accounts,
  ...inner.flatMap(labelsOf),
];

export function transactionJson(given: JsonTransaction): object {
  const { feePayer, instructions, balances, looked = { writable: [], readonly: [] } } = given;
  const loaded = { writable: looked.writable.map(named), readonly: looked.readonly.map(named) };
  const tabled = new Set([...loaded.writable, ...loaded.readonly]);
  const all = [feePayer, ...instructions.flatMap(labelsOf), ...Object.keys(balances)].map(named);
  const accountKeys = [...new Set(all)].filter((key) => !tabled.has(key));
  const keys = [...accountKeys, ...loaded.writable, ...loaded.readonly];
  const at = (label: string): number => keys.indexOf(named(label));
  const json = ({ program, accounts, data }: JsonInstruction, stackHeight: number): object => ({
    programIdIndex: at(program),
    accounts: accounts.map(at),
    data: base58.encode(data),
    stackHeight,
  });
  const flat = ({ inner = [] }: JsonInstruction): object[] =>
    inner.flatMap((called) => [json(called, 2), ...flat(called)]);
  const list = (when: 'before' | 'after'): object[] =>
    Object.entries(balances).flatMap(([label, balance]) =>
      balance[when] === undefined
        ? []
        : [
            {
              accountIndex: at(label),
              mint: (balance.token ?? USDC).address,
              owner: named(balance.owner),
              programId: programOf(balance.token ?? USDC),
              uiTokenAmount: { amount: String(balance[when]), decimals: 6 },
            },
          ],
    );
  return {
    version: 0,
    transaction: {
      signatures: [given.signature ?? signatureOf(JSON.stringify(Object.keys(balances)))],
      message: {
        accountKeys,
        instructions: instructions.map((one) => json(one, 1)),
        addressTableLookups:
          tabled.size === 0
            ? []
            : [
                {
                  accountKey: keyOf('table'),
                  writableIndexes: loaded.writable.map((_, index) => index),
                  readonlyIndexes: loaded.readonly.map((_, index) => index),
                },
              ],
      },
    },
    meta: {
      err: given.err ?? null,
      fee: 5_000,
      innerInstructions: instructions.flatMap((one, index) =>
        one.inner === undefined ? [] : [{ index, instructions: flat(one) }],
      ),
      preTokenBalances: list('before'),
      postTokenBalances: list('after'),
      loadedAddresses: loaded,
    },
  };
}

export const SLOT = 300;

export function blockJson(transactions: readonly object[]): object {
  return {
    blockhash: keyOf('block'),
    previousBlockhash: keyOf('block before'),
    parentSlot: SLOT - 1,
    blockTime: 1_790_000_000,
    transactions,
  };
}
