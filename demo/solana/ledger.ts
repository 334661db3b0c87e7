import { LiteSVM } from 'litesvm';
import { seededRandom } from '../random.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { createBlocks, type OpenSlot, RECENT_BLOCKS, type SolanaBlock } from './blocks.ts';
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
  /** Slot of the oldest block that is kept. */
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
  /** Signatures of the transactions that name an account, oldest first. */
  signaturesOf(account: string): Iterable<string>;
  /** Forgets the blocks below a slot, as nodes do. */
  prune(below: number): void;
}

const SLOT_MS = 400;

export function createSolanaLedger(options: LedgerOptions = {}): SolanaLedger {
  const { genesisHash = SOLANA_DEVNET.genesisHash, firstSlot = 0, finalityDepth = 2 } = options;
  const { skippedShare = 0, seed = 0, genesisTime = Math.floor(Date.now() / 1_000) } = options;
  const vm = new LiteSVM()
    .withBlockhashCheck(false) // blockhashes are made here
    .withTransactionHistory(0n); // and repeated transactions are found here
  const accounts = createAccounts(vm);
  const blocks = createBlocks({ genesisHash, firstSlot, finalityDepth });
  const index = createIndex();
  const random = seededRandom(seed);
  let timeMs = genesisTime * 1_000;
  let open = openSlot(firstSlot);

  const produce = (slot: number, time: number): SolanaBlock => {
    timeMs = time;
    const block = blocks.seal(slot, Math.floor(timeMs / 1_000), open);
    index.place(block.transactions, slot);
    startSlot(slot + 1);
    return block;
  };
  const startSlot = (slot: number): void => {
    open = openSlot(slot);
    const clock = vm.getClock();
    clock.slot = BigInt(slot);
    clock.unixTimestamp = BigInt(Math.floor(timeMs / 1_000));
    vm.setClock(clock);
  };
  produce(firstSlot, timeMs);

  const chain: ChainView = { blocks, index, openSlot: () => open.slot };
  return {
    genesisHash,
    accounts,
    ...viewOf(chain),
    get firstAvailable() {
      return blocks.firstAvailable;
    },
    submit(wire) {
      const sent = readTransaction(wire);
      const [signature = ''] = sent.signatures;
      if (!blocks.isRecent(sent.message.lifetimeToken)) return { refused: 'BlockhashNotFound' };
      if (index.find(signature) !== undefined) return { refused: 'AlreadyProcessed' };
      const outcome = executeTransaction({ vm, accounts }, sent, open.before);
      if ('refused' in outcome) return outcome;
      open.transactions.push(outcome);
      index.add(outcome, open.slot, open.transactions.length - 1);
      return outcome;
    },
    simulate(sent, { sigVerify }) {
      const isKnown = index.find(sent.signatures[0] ?? '') !== undefined;
      if (isKnown) return { err: 'AlreadyProcessed', meta: undefined, after: new Map() };
      return simulate({ vm, accounts }, sent, sigVerify);
    },
    produce({ skip = 0, time } = {}) {
      let slot = open.slot + skip;
      while (random.chance(skippedShare)) slot += 1;
      return produce(slot, time === undefined ? timeMs + SLOT_MS * (slot - blocks.tip.slot) : time * 1_000);
    },
    fork(depth, { sameSlots = false } = {}) {
      const undone = [open, ...blocks.cut(depth)];
      for (const { before } of undone) accounts.undo(before);
      const transactions = undone.reverse().flatMap((slot) => slot.transactions);
      index.remove(transactions);
      timeMs = blocks.tip.blockTime * 1_000;
      startSlot(sameSlots ? (undone[0] ?? open).slot : open.slot);
      return transactions.map(({ wire }) => wire);
    },
    prune(below) {
      for (const { transactions } of blocks.prune(below)) index.remove(transactions);
    },
  };
}

interface ChainView {
  readonly blocks: ReturnType<typeof createBlocks>;
  readonly index: TransactionIndex;
  readonly openSlot: () => number;
}

/** What is only read. */
function viewOf({ blocks, index, openSlot: slotInWork }: ChainView) {
  return {
    latestBlockhash(commitment: Commitment = 'confirmed') {
      const final = commitment === 'finalized' ? blocks.at(blocks.finalSlot) : undefined;
      const { blockhash, blockHeight } = final ?? blocks.tip;
      return { blockhash, lastValidBlockHeight: blockHeight + RECENT_BLOCKS };
    },
    isRecent: (blockhash: string) => blocks.isRecent(blockhash),
    slot(commitment: Commitment): number {
      if (commitment === 'processed') return slotInWork();
      return commitment === 'confirmed' ? blocks.tip.slot : blocks.finalSlot;
    },
    block: (slot: number) => blocks.at(slot),
    producedSlots: (from: number, to: number) => blocks.between(from, to),
    place: (signature: string) => index.find(signature),
    signaturesOf: (account: string) => index.naming(account),
  };
}

/** Where transactions are, by signature and by the accounts that they name. */
interface TransactionIndex {
  find(signature: string): TransactionPlace | undefined;
  naming(account: string): Iterable<string>;
  add(transaction: ExecutedTransaction, slot: number, index: number): void;
  /** The slot of a block can be later than the one in which its transactions were executed. */
  place(transactions: readonly ExecutedTransaction[], slot: number): void;
  remove(transactions: readonly ExecutedTransaction[]): void;
}

function createIndex(): TransactionIndex {
  const places = new Map<string, TransactionPlace>();
  const byAccount = new Map<string, Set<string>>();
  return {
    find: (signature) => places.get(signature),
    naming: (account) => byAccount.get(account) ?? [],
    add({ signature, err, accounts }, slot, index) {
      places.set(signature, { slot, index, err });
      for (const account of accounts) {
        const known = byAccount.get(account);
        if (known === undefined) byAccount.set(account, new Set([signature]));
        else known.add(signature);
      }
    },
    place(transactions, slot) {
      for (const [index, { signature, err }] of transactions.entries())
        places.set(signature, { slot, index, err });
    },
    remove(transactions) {
      for (const { signature, accounts } of transactions) {
        places.delete(signature);
        for (const account of accounts) byAccount.get(account)?.delete(signature);
      }
    },
  };
}

function openSlot(slot: number): OpenSlot {
  return { slot, transactions: [], before: new Map() };
}
