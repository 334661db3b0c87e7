import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { LiteSVM } from 'litesvm';
import { seededRandom } from '../random.ts';
import { type Accounts, type AccountsBefore, createAccounts, type StoredAccount } from './accounts.ts';
import {
  type ExecutedTransaction,
  executeTransaction,
  type RefusedTransaction,
  type Simulation,
  simulate,
} from './execute.ts';
import { readTransaction, type SentTransaction } from './message.ts';
import { SOLANA_DEVNET } from './programs.ts';
import type { TransactionError } from './transaction-errors.ts';

/**
 * A local Solana: litesvm executes the transactions, and this keeps what litesvm does not: slots, blocks that name their parents, slots
 * without a block, finality, forks below it, and where each transaction is. Executed at once, transactions wait in the slot that is being
 * made until `produce` makes its block.
 */

export interface LedgerOptions {
  /** Base58 of 32 bytes; its first 32 characters name the chain. Default: devnet's. */
  readonly genesisHash?: string;
  /** Slot of the first block, which is empty. Default 0. */
  readonly firstSlot?: number;
  /** Unix seconds of the first block. Default: now. */
  readonly genesisTime?: number;
  /** A block is final once the newest one is so many slots above it. Default 2; on mainnet about 32. */
  readonly finalityDepth?: number;
  /** Chance that a slot stays without a block, drawn with `seed`. Default 0. */
  readonly skippedShare?: number;
  readonly seed?: number;
}

export interface SolanaBlock {
  readonly slot: number;
  readonly parentSlot: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly blockHeight: number;
  readonly transactions: readonly ExecutedTransaction[];
}

/** `processed`: in the slot that is being made. `confirmed`: in a block. `finalized`: in a block that no fork replaces. */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

export interface TransactionPlace {
  readonly slot: number;
  readonly index: number;
  readonly err: TransactionError | null;
}

export interface SolanaLedger {
  readonly genesisHash: string;
  readonly accounts: Accounts;
  readonly firstAvailable: number;
  /** What a new transaction should name as recent. It is valid in blocks up to `lastValidBlockHeight`. */
  latestBlockhash(commitment?: Commitment): {
    readonly blockhash: string;
    readonly lastValidBlockHeight: number;
  };
  isRecent(blockhash: string): boolean;
  /** Executes it now. */
  submit(wire: Uint8Array): ExecutedTransaction | RefusedTransaction;
  simulate(sent: SentTransaction, options: { readonly sigVerify: boolean }): Simulation;
  /** Makes the block of the current slot. `skip`: so many slots before it stay empty. `time`: its Unix seconds. */
  produce(options?: { readonly skip?: number; readonly time?: number }): SolanaBlock;
  /**
   * Undoes the newest `depth` blocks and what waits for the next one, and returns their transactions. The blocks that follow are built on
   * the ancestor: in later slots, so that the undone ones become skipped, or in the same ones. Throws where a block is final.
   */
  fork(depth: number, options?: { readonly sameSlots?: boolean }): Uint8Array[];
  /** The slot that is being made, the newest block's, or the newest final block's. */
  slot(commitment: Commitment): number;
  block(slot: number): SolanaBlock | undefined;
  /** Slots with a block, both ends included. */
  producedSlots(from: number, to: number): number[];
  place(signature: string): TransactionPlace | undefined;
  /** Signatures of the transactions that name an account, oldest first; of undone and pruned ones as well: `place` knows none of those. */
  signaturesOf(account: string): readonly string[];
  /** Forgets the blocks below a slot, as nodes do. */
  prune(below: number): void;
}

/** On Solana, a blockhash is taken as recent for 150 blocks. */
const RECENT_BLOCKS = 150;
const SLOT_MS = 400;
const NO_PARENT = base58.encode(new Uint8Array(32));

interface MadeBlock extends SolanaBlock {
  /** Dropped once the block is final. */
  before: AccountsBefore | undefined;
}

export function createSolanaLedger(options: LedgerOptions = {}): SolanaLedger {
  const {
    genesisHash = SOLANA_DEVNET.genesisHash,
    firstSlot = 0,
    finalityDepth = 2,
    skippedShare = 0,
  } = options;
  const vm = new LiteSVM()
    .withBlockhashCheck(false) // blockhashes are made here
    .withTransactionHistory(0n); // and so are repeated transactions found
  const accounts = createAccounts(vm);
  const machine = { vm, accounts };
  const random = seededRandom(options.seed ?? 0);
  const blocks = new Map<number, MadeBlock>();
  /** Slots with a block, ascending. */
  const produced: number[] = [];
  const heightOf = new Map<string, number>();
  const places = new Map<string, TransactionPlace>();
  const byAccount = new Map<string, string[]>();
  let firstAvailable = firstSlot;
  let forks = 0;
  let timeMs = (options.genesisTime ?? Math.floor(Date.now() / 1_000)) * 1_000;
  let next = emptySlot(firstSlot);

  const tip = (): MadeBlock => {
    const block = blocks.get(produced.at(-1) ?? -1);
    if (block === undefined) throw new Error('the chain has no block');
    return block;
  };
  const finalSlot = (): number => {
    const newest = produced.at(-1) ?? firstSlot;
    const place = firstAbove(produced, newest - finalityDepth);
    return produced[Math.max(0, place - 1)] ?? firstSlot;
  };
  const startSlot = (slot: number): void => {
    next = emptySlot(slot);
    const clock = vm.getClock();
    clock.slot = BigInt(slot);
    clock.unixTimestamp = BigInt(Math.floor(timeMs / 1_000));
    vm.setClock(clock);
  };
  const seal = (slot: number): MadeBlock => {
    const parent = produced.length === 0 ? undefined : tip();
    const previousBlockhash = parent?.blockhash ?? NO_PARENT;
    const { transactions, before } = next;
    const signatures = transactions.map(({ signature }) => signature);
    const hashed = [genesisHash, previousBlockhash, slot, forks, ...signatures].join('/');
    const block: MadeBlock = {
      slot,
      parentSlot: parent?.slot ?? Math.max(0, slot - 1),
      blockhash: base58.encode(createHash('sha256').update(hashed).digest()),
      previousBlockhash,
      blockTime: Math.floor(timeMs / 1_000),
      blockHeight: (parent?.blockHeight ?? -1) + 1,
      transactions,
      before,
    };
    blocks.set(slot, block);
    produced.push(slot);
    heightOf.set(block.blockhash, block.blockHeight);
    for (const [index, { signature, err }] of transactions.entries())
      places.set(signature, { slot, index, err });
    return block;
  };
  const settle = (): void => {
    const final = finalSlot();
    for (let at = firstAbove(produced, final) - 1; at >= 0; at--) {
      const block = blocks.get(produced[at] ?? -1);
      if (block?.before === undefined) break;
      block.before = undefined;
    }
    for (const [hash, height] of heightOf) {
      if (height >= tip().blockHeight - RECENT_BLOCKS) break;
      heightOf.delete(hash);
    }
  };

  startSlot(firstSlot);
  seal(firstSlot);
  startSlot(firstSlot + 1);

  return {
    genesisHash,
    accounts,
    get firstAvailable() {
      return firstAvailable;
    },
    latestBlockhash(commitment = 'confirmed') {
      const { blockhash, blockHeight } =
        commitment === 'finalized' ? (blocks.get(finalSlot()) ?? tip()) : tip();
      return { blockhash, lastValidBlockHeight: blockHeight + RECENT_BLOCKS };
    },
    isRecent: (blockhash) => heightOf.has(blockhash),
    submit(wire) {
      const sent = readTransaction(wire);
      const [signature = ''] = sent.signatures;
      if (!heightOf.has(sent.message.lifetimeToken)) return { refused: 'BlockhashNotFound' };
      if (places.has(signature)) return { refused: 'AlreadyProcessed' };
      const outcome = executeTransaction(machine, sent, next.before);
      if ('refused' in outcome) return outcome;
      places.set(signature, { slot: next.slot, index: next.transactions.length, err: outcome.err });
      next.transactions.push(outcome);
      for (const account of outcome.accounts) {
        const known = byAccount.get(account);
        if (known === undefined) byAccount.set(account, [signature]);
        else known.push(signature);
      }
      return outcome;
    },
    simulate(sent, { sigVerify }) {
      const [signature = ''] = sent.signatures;
      if (places.has(signature)) return { err: 'AlreadyProcessed', meta: undefined, after: new Map() };
      return simulate(machine, sent, sigVerify);
    },
    produce({ skip = 0, time } = {}) {
      let slot = next.slot + skip;
      while (random.chance(skippedShare)) slot += 1;
      timeMs = time === undefined ? timeMs + SLOT_MS * (slot - tip().slot) : time * 1_000;
      const block = seal(slot);
      startSlot(slot + 1);
      settle();
      return block;
    },
    fork(depth, { sameSlots = false } = {}) {
      const undone = produced.slice(produced.length - depth);
      const [first = next.slot] = undone;
      if (first <= finalSlot()) throw new Error(`slot ${first} is final`);
      const resume = sameSlots ? first : next.slot;
      const slots = [next, ...undone.map((slot) => blocks.get(slot)).reverse()];
      const returned: Uint8Array[] = [];
      for (const slot of slots) {
        accounts.undo(slot?.before ?? new Map());
        const transactions = slot?.transactions ?? [];
        returned.unshift(...transactions.map(({ wire }) => wire));
        for (const { signature } of transactions) places.delete(signature);
      }
      for (const slot of undone) {
        heightOf.delete(blocks.get(slot)?.blockhash ?? '');
        blocks.delete(slot);
      }
      produced.length -= undone.length;
      forks += 1;
      timeMs = tip().blockTime * 1_000;
      startSlot(resume);
      return returned;
    },
    slot(commitment) {
      if (commitment === 'processed') return next.slot;
      return commitment === 'confirmed' ? tip().slot : finalSlot();
    },
    block: (slot) => blocks.get(slot),
    producedSlots: (from, to) => produced.slice(firstAbove(produced, from - 1), firstAbove(produced, to)),
    place: (signature) => places.get(signature),
    signaturesOf: (account) => byAccount.get(account) ?? [],
    prune(below) {
      const until = Math.min(below, finalSlot());
      for (const slot of produced.splice(0, firstAbove(produced, until - 1))) {
        for (const { signature } of blocks.get(slot)?.transactions ?? []) places.delete(signature);
        blocks.delete(slot);
      }
      firstAvailable = Math.max(firstAvailable, until);
    },
  };
}

interface OpenSlot {
  readonly slot: number;
  readonly transactions: ExecutedTransaction[];
  readonly before: AccountsBefore;
}

function emptySlot(slot: number): OpenSlot {
  return { slot, transactions: [], before: new Map<string, StoredAccount | undefined>() };
}

/** The place of the first member above a value, in an ascending list. */
function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
