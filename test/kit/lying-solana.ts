import { TOKEN_PROGRAM } from '../../core/domain/solana-programs.ts';
import {
  type Call,
  type ExchangeLie,
  type Liar,
  type LyingProxy,
  type LyingProxyOptions,
  type Reply,
  startLyingProxy,
} from './lying-proxy.ts';

/** A node of Solana that lies. */

export const SOLANA_LIES = [
  /** getBlock: one transaction is left out. */
  'dropped-transaction',
  /** getBlock: two transactions change their places. */
  'swapped-transactions',
  /** getBlock: a transaction comes twice. */
  'repeated-transaction',
  /** getBlock: null although there is a block. */
  'null-block',
  /** getBlock: -32007, as for a skipped slot. */
  'claimed-skipped',
  /** getBlock: -32009, as of a node that asked its long-term storage. */
  'not-in-storage',
  /** getBlock: -32001, as of a node that has forgotten the block. */
  'pruned',
  /** getBlock: -32004, as of a node that is behind. */
  'not-available',
  /** getBlock: names another parent's hash. */
  'broken-link',
  /** getBlock: names another parent's slot. */
  'other-parent-slot',
  /** getBlock: has another hash itself. */
  'other-blockhash',
  /** getBlock: an amount in the balances after a transaction is another. */
  'changed-amount',
  /** getBlock: an owner in the balances is another, before and after alike. */
  'changed-owner',
  /** getBlock: a transaction has no balances after it. */
  'no-balances',
  /** getBlock: a transaction that failed looks as if it had not. */
  'denied-failure',
  /** getBlock: a transaction has another first signature. */
  'other-signature',
  /** getSlot: a slot some way back. */
  'stale-tip',
  /** getBlocks: a slot is left out. */
  'shorter-list',
  /** getGenesisHash: that of another chain. */
  'other-chain',
] as const;

type AnswerLie = (typeof SOLANA_LIES)[number];

export type SolanaLie = AnswerLie | ExchangeLie;

export type LyingSolana = LyingProxy<AnswerLie>;

interface WireBlock {
  parentSlot: number;
  blockhash: string;
  previousBlockhash: string;
  transactions?: WireTransaction[];
}

interface WireTransaction {
  readonly transaction: { readonly signatures: readonly string[] };
  readonly meta: {
    readonly err: unknown;
    readonly preTokenBalances: readonly WireBalance[];
    readonly postTokenBalances: readonly WireBalance[];
  };
}

interface WireBalance {
  readonly owner: string;
  readonly programId: string;
  readonly uiTokenAmount: { readonly amount: string };
}

/** Base58 of bytes that no chain of a test has. */
const NOWHERE = 'BadBadBadBadBadBadBadBadBadBadBadBadBadBadB';
const NO_SIGNATURE = '5'.repeat(87);
const STALE_BY_MAX = 5;

const ERRORS: readonly (readonly [AnswerLie, number, (slot: number) => string])[] = [
  [
    'claimed-skipped',
    -32_007,
    (slot) => `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  ],
  ['not-in-storage', -32_009, (slot) => `Slot ${slot} was skipped, or missing in long-term storage`],
  [
    'pruned',
    -32_001,
    (slot) => `Block ${slot} cleaned up, does not exist on node. First available block: ${slot + 1}`,
  ],
  ['not-available', -32_004, (slot) => `Block not available for slot ${slot}`],
];

export function startLyingSolana(options: LyingProxyOptions<AnswerLie>): Promise<LyingSolana> {
  return startLyingProxy(SOLANA_LIES, distort, options);
}

function distort(call: Call, reply: Reply, liar: Liar<AnswerLie>): void {
  const { tell, untell, random } = liar;
  if (call.method === 'getGenesisHash' && tell('other-chain')) reply.result = NOWHERE;
  if (call.method === 'getSlot' && tell('stale-tip')) {
    const stale = Math.max(0, Number(reply.result) - 1 - Math.floor(random() * STALE_BY_MAX));
    if (stale === reply.result) untell('stale-tip');
    reply.result = stale;
  }
  if (call.method === 'getBlocks' && Array.isArray(reply.result) && reply.result.length > 1) {
    const left = Math.floor(random() * reply.result.length);
    if (tell('shorter-list')) reply.result = reply.result.filter((_, at) => at !== left);
  }
  if (call.method === 'getBlock' && typeof reply.result === 'object' && reply.result !== null)
    distortBlock(Number(call.params[0]), reply, liar);
}

function distortBlock(slot: number, reply: Reply, liar: Liar<AnswerLie>): void {
  const { tell, untell, random } = liar;
  const error = ERRORS.find(([lie]) => tell(lie));
  if (error !== undefined) {
    const [, code, message] = error;
    delete reply.result;
    reply.error = { code, message: message(slot) };
    return;
  }
  if (tell('null-block')) {
    reply.result = null;
    return;
  }
  const block = structuredClone(reply.result) as WireBlock; // the local node's answer
  reply.result = block;
  if (tell('broken-link')) block.previousBlockhash = NOWHERE;
  if (tell('other-blockhash')) block.blockhash = NOWHERE;
  if (tell('other-parent-slot')) {
    if (block.parentSlot === 0) untell('other-parent-slot');
    block.parentSlot = Math.max(0, block.parentSlot - 1);
  }
  const { transactions = [] } = block;
  const at = Math.floor(random() * transactions.length);
  const victim = transactions[at];
  if (victim === undefined) return;
  const changed = changedTransaction(victim, liar);
  if (changed !== victim) transactions[at] = changed;
  if (transactions.length > 1 && tell('swapped-transactions')) {
    const other = (at + 1) % transactions.length;
    [transactions[at], transactions[other]] = [transactions[other] ?? victim, transactions[at] ?? victim];
  }
  if (tell('repeated-transaction')) transactions.splice(at, 0, victim);
  if (tell('dropped-transaction')) transactions.splice(at, 1);
}

/** The transaction itself if nothing is lied about it. */
function changedTransaction(one: WireTransaction, { tell }: Liar<AnswerLie>): WireTransaction {
  const { meta, transaction } = one;
  if (tell('other-signature'))
    return {
      ...one,
      transaction: { ...transaction, signatures: [NO_SIGNATURE, ...transaction.signatures.slice(1)] },
    };
  if (meta.err !== null && tell('denied-failure')) return { ...one, meta: { ...meta, err: null } };
  const [first] = meta.postTokenBalances;
  if (first === undefined) return one;
  if (tell('no-balances')) return { ...one, meta: { ...meta, postTokenBalances: [] } };
  // What a fee of a Token-2022 mint leaves is known from the balances alone.
  const exact = meta.postTokenBalances.findIndex(({ programId }) => programId === TOKEN_PROGRAM);
  if (exact >= 0 && tell('changed-amount')) {
    const postTokenBalances = meta.postTokenBalances.map((balance, at) => {
      const amount = String(BigInt(balance.uiTokenAmount.amount) + 1n);
      return at === exact ? { ...balance, uiTokenAmount: { ...balance.uiTokenAmount, amount } } : balance;
    });
    return { ...one, meta: { ...meta, postTokenBalances } };
  }
  if (!tell('changed-owner')) return one;
  const renamed = (balances: readonly WireBalance[]) =>
    balances.map((balance) => (balance.owner === first.owner ? { ...balance, owner: NOWHERE } : balance));
  const { preTokenBalances, postTokenBalances } = meta;
  return {
    ...one,
    meta: {
      ...meta,
      preTokenBalances: renamed(preTokenBalances),
      postTokenBalances: renamed(postTokenBalances),
    },
  };
}
