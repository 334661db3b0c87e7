import { list, record } from '../read-answers.ts';
import { ProviderContradiction } from '../rpc/failure.ts';
import type { SolanaFilter } from './block.ts';
import {
  type BlockAnswer,
  type HeaderAnswer,
  malformed,
  optionalList,
  readHeader,
  readTransactions,
  slot,
} from './read-block.ts';

/**
 * Converts a line of a Portal's answer, one block as JSON, to the form of getBlock, so that the same code reads and checks both. The Portal has
 * one list of instructions and one of token balances for a whole block, and names accounts where a node gives their positions. Source:
 * subsquid/data a48c17f7, `crates/query/src/query/solana.rs`; subsquid/squid-sdk, `solana-normalization`.
 */

export interface PortalHead {
  readonly header: HeaderAnswer;
}

export interface PortalAnswer extends PortalHead {
  readonly answer: BlockAnswer;
}

export function readPortalHead(line: unknown): PortalHead {
  const header = record(record(line, 'block')['header'], 'header');
  const { number, hash, parentNumber, parentHash, timestamp } = header;
  const block = {
    blockhash: hash,
    previousBlockhash: parentHash,
    parentSlot: parentNumber,
    // 0 stands for a block without a time.
    blockTime: timestamp === 0 ? null : timestamp,
  };
  return { header: readHeader(block, slot(number, 'slot')) };
}

/** If it is not trusted, all transactions were asked for in which a listed token has a balance, and no others. */
export function readPortalLine(line: unknown, filter: SolanaFilter, isTrusted: boolean): PortalAnswer {
  const { header } = readPortalHead(line);
  const parts = partsOf(record(line, 'block'));
  const answer = readTransactions(header, parts, filter, isTrusted);
  const whole = parts.filter(([, { meta }]) => meta.err === null).length;
  if (!isTrusted && answer.moving.length !== whole)
    throw new ProviderContradiction(
      'wrong-balance',
      `slot ${header.number} lacks balances that were asked for`,
    );
  return { header, answer };
}

type Fields = Readonly<Record<string, unknown>>;

interface Parts {
  readonly transaction: Fields;
  readonly instructions: Fields[];
  readonly balances: Fields[];
}

type Entry = readonly [number, ReturnType<typeof transactionOf>];

/** The transactions of a block, ascending by their index, which each of them, of its instructions and of its balances has. */
function partsOf(block: Fields): Entry[] {
  const byIndex = new Map<unknown, Parts>();
  for (const entry of optionalList(block['transactions'], 'transactions')) {
    const transaction = record(entry, 'transaction');
    const index = slot(transaction['transactionIndex'], 'transaction index');
    if (byIndex.has(index)) throw malformed(`two transactions ${index} of a block`);
    byIndex.set(index, { transaction, instructions: [], balances: [] });
  }
  for (const [name, kind] of [
    ['instructions', 'instructions'],
    ['tokenBalances', 'balances'],
  ] as const)
    for (const entry of optionalList(block[name], name)) {
      const item = record(entry, name);
      const parts = byIndex.get(item['transactionIndex']);
      if (parts === undefined)
        throw new ProviderContradiction('missing-transaction', `${name} of a transaction that is not there`);
      parts[kind].push(item);
    }
  return [...byIndex.values()]
    .map((parts): Entry => [Number(parts.transaction['transactionIndex']), transactionOf(parts)])
    .sort(([one], [other]) => one - other);
}

function transactionOf({ transaction, instructions, balances }: Parts) {
  const { accountKeys, loadedAddresses, addressTableLookups, recentBlockhash, signatures, err, version } =
    transaction;
  const loaded = record(loadedAddresses ?? {}, 'loaded addresses');
  const accounts = [accountKeys, loaded['writable'], loaded['readonly']].flatMap((keys) =>
    optionalList(keys, 'accounts'),
  );
  const positions = new Map(accounts.map((account, at) => [account, at]));
  const positionOf = (account: unknown): number => {
    const at = positions.get(account);
    if (at === undefined) throw malformed('an account that its transaction does not name');
    return at;
  };
  const [top, inner] = callsOf(instructions, positionOf);
  return {
    version,
    transaction: {
      signatures,
      message: {
        header: {
          numRequiredSignatures: transaction['numRequiredSignatures'],
          numReadonlySignedAccounts: transaction['numReadonlySignedAccounts'],
          numReadonlyUnsignedAccounts: transaction['numReadonlyUnsignedAccounts'],
        },
        ...{ accountKeys, addressTableLookups, recentBlockhash },
        instructions: top,
      },
    },
    meta: {
      ...{ err, loadedAddresses: loaded },
      innerInstructions: inner,
      preTokenBalances: balances.flatMap((balance) => balanceOf(balance, 'pre', positionOf)),
      postTokenBalances: balances.flatMap((balance) => balanceOf(balance, 'post', positionOf)),
    },
  };
}

/** The instructions of the message, and those that each of them called, in the order in which they ran. */
function callsOf(instructions: readonly Fields[], positionOf: (account: unknown) => number) {
  const placed = instructions.map((instruction) => ({ instruction, address: addressOf(instruction) }));
  placed.sort((one, other) => compareAddresses(one.address, other.address));
  const top: object[] = [];
  const inner: { readonly index: number; readonly instructions: object[] }[] = [];
  let before: readonly number[] = [];
  for (const { instruction, address } of placed) {
    if (!isNext(before, address))
      throw malformed('an instruction of a transaction is missing, or comes twice');
    before = address;
    const { programId, accounts, data } = instruction;
    const call = {
      programIdIndex: positionOf(programId),
      accounts: list(accounts, 'accounts').map(positionOf),
      data,
    };
    if (address.length === 1) top.push(call);
    else if (inner.at(-1)?.index === address[0]) inner.at(-1)?.instructions.push(call);
    else inner.push({ index: address[0] ?? 0, instructions: [call] }); // an address is not empty
  }
  return [top, inner] as const;
}

/** Calls go four deep (five with SIMD-0268's limit of nine); the runtime stops a transaction at 64 instructions. */
const ADDRESS_MAX = 16;

function addressOf(instruction: Fields): readonly number[] {
  const address = list(instruction['instructionAddress'], 'instruction address');
  if (address.length === 0 || address.length > ADDRESS_MAX) throw malformed('an address of an instruction');
  return address.map((part) => slot(part, 'address of an instruction'));
}

function compareAddresses(one: readonly number[], other: readonly number[]): number {
  for (const [at, part] of one.entries()) {
    const difference = part - (other[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** The next one is called by the one before, or by one of those that called it, and stands after its last call. */
function isNext(before: readonly number[], address: readonly number[]): boolean {
  const at = address.length - 1;
  const isSameCaller = address.slice(0, at).every((part, depth) => part === before[depth]);
  return isSameCaller && at <= before.length && address[at] === (before[at] ?? -1) + 1;
}

/** None where the account did not exist. */
function balanceOf(
  balance: Fields,
  when: 'pre' | 'post',
  positionOf: (account: unknown) => number,
): object[] {
  const mint = balance[`${when}Mint`] ?? null;
  if (mint === null) return [];
  const amount = balance[`${when}Amount`];
  return [
    {
      accountIndex: positionOf(balance['account']),
      ...{ mint, owner: balance[`${when}Owner`], uiTokenAmount: { amount } },
    },
  ];
}
