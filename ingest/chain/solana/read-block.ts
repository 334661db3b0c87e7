import {
  type Hash,
  hexOf,
  isAddress,
  isTransactionId,
  readAddress,
  readTransactionId,
  type Signature,
} from '../../../core/domain/account.ts';
import { isTokenProgram } from '../../../core/domain/solana-programs.ts';
import { list, MAX_U32, record } from '../read-answers.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import type {
  Instruction,
  SolanaBlock,
  SolanaFilter,
  SolanaTransaction,
  TokenBalance,
  TokenMove,
} from './block.ts';
import { checkBalances } from './check-balances.ts';
import { readTokenInstruction } from './token-moves.ts';
import { verifySignature } from './verify-signature.ts';

/**
 * Converts the answer of getBlock (encoding `json`). A value that does not have the documented shape is a contradiction, never a default.
 * Source: Solana's JSON-RPC documentation, structures of transactions and blocks.
 */

/** The head of a block as answered. */
export interface HeaderAnswer {
  readonly number: number;
  readonly hash: Hash;
  readonly parentNumber: number;
  readonly parentHash: Hash;
  /** Unix seconds; null where the node has no time of the block. */
  readonly time: number | null;
}

export interface BlockAnswer extends HeaderAnswer {
  /** Those that did not fail and have balances of a listed token: keeping all would keep megabytes of each block. */
  readonly moving: readonly SolanaTransaction[];
  /** Of these, the candidates. */
  readonly transactions: readonly SolanaTransaction[];
  /** How the signature of each transaction of the block begins. */
  readonly beginnings: readonly string[];
}

/** 70 bits tell the transactions of a block apart. A longer part of a text would keep all of it in memory. */
const BEGINNING_CHARS = 12;

function beginningOf(signature: string): string {
  return signature.slice(0, BEGINNING_CHARS);
}

/** The answer of getBlock with the signatures alone. */
export function readBeginnings(
  result: unknown,
  number: number,
): HeaderAnswer & Pick<BlockAnswer, 'beginnings'> {
  return { ...readHeader(result, number), beginnings: signaturesIn(result).map(beginningOf) };
}

/** The same: where the wanted signatures stand in the block. */
export function readPlaces(
  result: unknown,
  number: number,
  wanted: ReadonlySet<string>,
): HeaderAnswer & { readonly places: ReadonlyMap<string, number> } {
  const places = signaturesIn(result).map((signature, index) => [signature, index] as const);
  const found = new Map(places.filter(([signature]) => wanted.has(signature)));
  if (found.size < wanted.size)
    throw new ProviderContradiction('missing-transaction', `slot ${number} lacks a listed transaction`);
  return { ...readHeader(result, number), places: found };
}

function signaturesIn(block: unknown): string[] {
  return texts(record(block, 'block')['signatures'], 'signatures');
}

/** What is kept of it: not `moving`, which only checks need. */
export function blockOf(
  { number, hash, parentNumber, parentHash, transactions }: HeaderAnswer & Pick<BlockAnswer, 'transactions'>,
  time: number,
): SolanaBlock {
  return { number, hash, parentNumber, parentHash, time, transactions };
}

export function readHeader(result: unknown, number: number): HeaderAnswer {
  if (result === null) throw new RpcFailure('absent', `the node has no block at slot ${number}`);
  const block = record(result, 'block');
  const parentNumber = slot(block['parentSlot'], 'parent slot');
  // Slot 0 is its own parent.
  if (parentNumber >= number && number > 0)
    throw new ProviderContradiction('broken-link', `the parent of slot ${number} is slot ${parentNumber}`);
  return {
    number,
    hash: blockHash(block['blockhash'], 'block hash'),
    parentNumber,
    parentHash: blockHash(block['previousBlockhash'], 'previous block hash'),
    time: block['blockTime'] === null ? null : slot(block['blockTime'], 'block time', MAX_U32),
  };
}

/** Checks each transaction of a listed token by its balances, and verifies each candidate; but not where `isTrusted`. */
export function readBlock(
  result: unknown,
  number: number,
  filter: SolanaFilter,
  isTrusted: boolean,
): BlockAnswer {
  const header = readHeader(result, number);
  const entries = list(record(result, 'block')['transactions'], 'transactions').entries();
  return readTransactions(header, entries, filter, isTrusted);
}

/** `entries`: transactions in the form of getBlock, each with its index in the block; ascending, and not all where the others do not matter. */
export function readTransactions(
  header: HeaderAnswer,
  entries: Iterable<readonly [number, unknown]>,
  { mints, isCandidate }: SolanaFilter,
  isTrusted: boolean,
): BlockAnswer {
  const { number } = header;
  const moving: SolanaTransaction[] = [];
  const transactions: SolanaTransaction[] = [];
  const signatures = new Set<string>();
  for (const [index, entry] of entries) {
    const raw = rawOf(entry, index);
    if (signatures.has(raw.signature))
      throw new ProviderContradiction('repeated-signature', `slot ${number} has ${raw.signature} twice`);
    signatures.add(raw.signature);
    if (raw.meta['err'] !== null || !holdsMint(raw.meta, mints)) continue;
    const transaction = readTransaction(raw, index);
    if (!isTrusted) checkBalances(transaction, mints);
    moving.push(transaction);
    if (!isCandidate(transaction, mints)) continue;
    if (!isTrusted) verifySignature(raw.signature, raw.message, raw.version);
    transactions.push(transaction);
  }
  return { ...header, moving, transactions, beginnings: [...signatures].map(beginningOf) };
}

interface RawTransaction {
  readonly signature: string;
  readonly message: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
  readonly version: unknown;
}

function rawOf(entry: unknown, index: number): RawTransaction {
  const { transaction, meta, version } = record(entry, 'transaction') as {
    transaction?: unknown;
    meta?: unknown;
    version?: unknown;
  }; // each is checked below
  // A node without the status of a transaction has not kept it whole.
  if (meta === null || meta === undefined)
    throw new RpcFailure('absent', `the node has no status of transaction ${index}`);
  const { signatures, message } = record(transaction, 'transaction') as {
    signatures?: unknown;
    message?: unknown;
  }; // likewise
  // Without it, a payment would pass for one that failed.
  if (record(meta, 'meta')['err'] === undefined)
    throw malformed('a transaction does not say whether it failed');
  const [signature] = list(signatures, 'signatures');
  if (typeof signature !== 'string') throw malformed('a transaction has no signature');
  return { signature, message: record(message, 'message'), meta: record(meta, 'meta'), version };
}

/** Most transactions are votes, which have no token balances. */
function holdsMint(meta: Record<string, unknown>, mints: ReadonlySet<string>): boolean {
  return BALANCE_LISTS.some((name) =>
    optionalList(meta[name], name).some((entry) => mints.has(String(record(entry, name)['mint']))),
  );
}

const BALANCE_LISTS = ['preTokenBalances', 'postTokenBalances'] as const;

function readTransaction({ signature, message, meta }: RawTransaction, index: number): SolanaTransaction {
  const accounts = accountsOf(message, meta);
  const instructions = list(message['instructions'], 'instructions').map((entry) =>
    readInstruction(entry, accounts),
  );
  return {
    index,
    signature: signatureOf(signature),
    accounts,
    instructions,
    moves: movesOf(instructions, innerOf(meta, instructions.length, accounts), accounts),
    balances: balancesOf(meta, accounts.length),
  };
}

/** In the order in which instructions count them: Solana, address lookup tables. */
function accountsOf(message: Record<string, unknown>, meta: Record<string, unknown>): string[] {
  const own = texts(message['accountKeys'], 'account keys');
  const lookups = optionalList(message['addressTableLookups'], 'lookups').map((entry) =>
    record(entry, 'lookup'),
  );
  if (lookups.length === 0) return own;
  const loaded = record(meta['loadedAddresses'], 'loaded addresses');
  const writable = texts(loaded['writable'], 'writable addresses');
  const readonly = texts(loaded['readonly'], 'read-only addresses');
  const count = (name: string): number =>
    lookups.reduce((sum, lookup) => sum + list(lookup[name], name).length, 0);
  if (writable.length !== count('writableIndexes') || readonly.length !== count('readonlyIndexes'))
    throw malformed('the addresses of lookup tables are not those that were looked up');
  return [...own, ...writable, ...readonly];
}

function readInstruction(entry: unknown, accounts: readonly string[]): Instruction {
  const {
    programIdIndex,
    accounts: named,
    data,
  } = record(entry, 'instruction') as {
    programIdIndex?: unknown;
    accounts?: unknown;
    data?: unknown;
  }; // each is checked below
  const program = accounts[position(programIdIndex, accounts.length)] ?? ''; // by the check
  if (typeof data !== 'string') throw malformed('an instruction has no data');
  // `base58.decode` throws for other characters.
  if (!BASE58.test(data)) throw malformed('the data of an instruction is no base58');
  return {
    program,
    accounts: list(named, 'accounts').map((at) => position(at, accounts.length)),
    data,
  };
}

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]*$/;

/** By the instruction of the message that called them, in the order in which they ran. */
function innerOf(
  meta: Record<string, unknown>,
  count: number,
  accounts: readonly string[],
): ReadonlyMap<number, readonly Instruction[]> {
  const found = new Map<number, readonly Instruction[]>();
  for (const entry of optionalList(meta['innerInstructions'], 'inner instructions')) {
    const group = record(entry, 'inner instructions');
    const at = position(group['index'], count);
    if (found.has(at)) throw malformed('two lists of inner instructions of one instruction');
    found.set(
      at,
      list(group['instructions'], 'instructions').map((inner) => readInstruction(inner, accounts)),
    );
  }
  return found;
}

function movesOf(
  instructions: readonly Instruction[],
  inner: ReadonlyMap<number, readonly Instruction[]>,
  accounts: readonly string[],
): TokenMove[] {
  const moves: TokenMove[] = [];
  let at = 0;
  const run = (instruction: Instruction, top: number, isInner: boolean): void => {
    const place = { position: at, top, isInner };
    const read = isTokenProgram(instruction.program)
      ? readTokenInstruction(instruction, place)
      : { moves: [], positions: 1 };
    for (const move of read.moves) moves.push(move);
    at += read.positions;
  };
  for (const [top, instruction] of instructions.entries()) {
    run(instruction, top, false);
    for (const called of inner.get(top) ?? []) run(called, top, true);
  }
  const isShort = ({ mint, source, destination }: TokenMove): boolean =>
    [mint, source, destination].some((account) => account !== null && accounts[account] === undefined);
  if (moves.some(isShort)) throw malformed('an instruction names an account that is not there');
  return moves;
}

interface BalanceEntry {
  readonly mint: string;
  readonly owner: string | null;
  readonly amount: bigint;
}

function balancesOf(meta: Record<string, unknown>, accountCount: number): Map<number, TokenBalance> {
  const [pre, post] = BALANCE_LISTS.map((name) => entriesOf(meta[name], name, accountCount));
  const found = new Map<number, TokenBalance>();
  for (const account of new Set([...(pre?.keys() ?? []), ...(post?.keys() ?? [])])) {
    const [before, after] = [pre?.get(account), post?.get(account)];
    found.set(account, {
      mint: after?.mint ?? before?.mint ?? '', // one of the two has the account
      ownerBefore: before?.owner ?? null,
      ownerAfter: after?.owner ?? null,
      before: before?.amount ?? 0n,
      after: after?.amount ?? 0n,
      isReused: before !== undefined && after !== undefined && before.mint !== after.mint,
    });
  }
  return found;
}

function entriesOf(value: unknown, name: string, accountCount: number): Map<number, BalanceEntry> {
  return new Map(
    optionalList(value, name).map((entry) => {
      const { accountIndex, mint, owner, uiTokenAmount } = record(entry, name) as Record<string, unknown>; // each is checked
      const amount = record(uiTokenAmount, 'amount')['amount'];
      if (typeof mint !== 'string') throw malformed('a balance without a mint');
      if (typeof amount !== 'string' || !U64.test(amount)) throw malformed('an amount of tokens');
      return [
        position(accountIndex, accountCount),
        { mint, owner: typeof owner === 'string' ? owner : null, amount: BigInt(amount) },
      ];
    }),
  );
}

/** Twenty digits hold 2^64. */
const U64 = /^[0-9]{1,20}$/;

function signatureOf(text: string): Signature {
  const id = readTransactionId(text, 'solana');
  if (!isTransactionId(id)) throw malformed('a signature is not base58 of 64 bytes');
  return id as Signature; // of this namespace, as asked
}

/** Block hashes are kept as those of other chains are, as hex of their 32 bytes. */
function blockHash(value: unknown, what: string): Hash {
  const bytes = readAddress(value, 'solana');
  if (!isAddress(bytes)) throw malformed(`the ${what} is not base58 of 32 bytes`);
  return `0x${hexOf(bytes)}`;
}

export function slot(value: unknown, what: string, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw malformed(`the ${what} is no number in range`);
  return value;
}

function position(value: unknown, count: number): number {
  return slot(value, 'position of an account or an instruction', count - 1);
}

function texts(value: unknown, what: string): string[] {
  return list(value, what).map((entry) => {
    if (typeof entry !== 'string') throw malformed(`the ${what} are not texts`);
    return entry;
  });
}

export function optionalList(value: unknown, what: string): readonly unknown[] {
  return value === null || value === undefined ? [] : list(value, what);
}

export function malformed(detail: string): ProviderContradiction {
  return new ProviderContradiction('malformed', detail);
}
