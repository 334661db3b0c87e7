import { type Static, Type } from '@sinclair/typebox';
import {
  askingNodes,
  type ChainConfirmer,
  type ChainFinding,
  type RpcConfirmerOptions,
  type SettlementQuestion,
} from '../confirm.ts';
import type { AskNode } from '../post-json.ts';
import { digestOf, messageIn } from './transfer.ts';

/**
 * Confirms payments of Solana. A payment is found by the digest of its message, since its transaction is named by a signature that the
 * facilitator adds last: where that is not known, the newest transactions of the payer are gone through. Source: RPC of Solana.
 */
export function createSolanaConfirmer(options: Omit<RpcConfirmerOptions, 'logWindowMax'>): ChainConfirmer {
  return askingNodes(options, async (ask, question) => {
    const { claimed } = question;
    const said = claimed === undefined ? null : await findingIn(ask, claimed, question);
    const found = said ?? (await search(ask, question));
    if (found !== null) return found;
    if (!(await hasOutlived(ask, question.sinceMs))) return { outcome: 'unsettled' };
    // It may have been executed since the search before.
    return (await search(ask, question)) ?? { outcome: 'ended' };
  });
}

/** A payment counts from the first confirmation on, as facilitators answer then; a failure only once it is final. */
const CONFIRMED = { commitment: 'confirmed' } as const;
const FINALIZED = { commitment: 'finalized' } as const;

const Balances = Type.Array(
  Type.Object({
    mint: Type.String(),
    owner: Type.Optional(Type.String()),
    uiTokenAmount: Type.Object({ amount: Type.String({ pattern: '^[0-9]{1,20}$' }) }),
  }),
);
const Transaction = Type.Union([
  Type.Null(),
  Type.Object({
    transaction: Type.Tuple([Type.String(), Type.Literal('base64')]),
    meta: Type.Object({ err: Type.Unknown(), preTokenBalances: Balances, postTokenBalances: Balances }),
  }),
]);

type ReadTransaction = Static<typeof Transaction>;

function transaction(ask: AskNode, id: string, commitment: object): Promise<ReadTransaction> {
  const options = { ...commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 };
  return ask(Transaction, 'getTransaction', id, options);
}

/** What one transaction shows; null for one of another message, and for one that is not there. */
async function findingIn(
  ask: AskNode,
  id: string,
  question: SettlementQuestion,
): Promise<ChainFinding | null> {
  const read = await transaction(ask, id, CONFIRMED);
  const message = read && messageIn(read.transaction[0]);
  if (!read || !message || digestOf(message) !== question.id.nonce) return null;
  if (read.meta.err === null) return isPaid(read, question) ? { outcome: 'settled', transaction: id } : SPENT;
  return (await transaction(ask, id, FINALIZED)) === null ? { outcome: 'unsettled' } : SPENT;
}

const SPENT = { outcome: 'spent_otherwise' } as const;

/** By what `payTo` has more than before: a mint may withhold a part of each transfer. */
function isPaid({ meta }: NonNullable<ReadTransaction>, { id, payTo, amount }: SettlementQuestion): boolean {
  const sum = (balances: Static<typeof Balances>): bigint =>
    balances
      .filter(({ mint, owner }) => mint === id.asset && owner === payTo)
      .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n);
  return sum(meta.postTokenBalances) - sum(meta.preTokenBalances) >= BigInt(amount);
}

const Signatures = Type.Array(
  Type.Object({ signature: Type.String(), blockTime: Type.Union([Type.Integer(), Type.Null()]) }),
);

/** Transactions of the payer, since its payment was claimed, that one look-up goes through. */
const CANDIDATES_MAX = 100;
/** Block times are an average of what validators say, and our clock is another. */
const CLOCK_SLACK_SECONDS = 120;

/** Null: no transaction of the payer since the claim is of this message. Rejects where there are more than may be read. */
async function search(ask: AskNode, question: SettlementQuestion): Promise<ChainFinding | null> {
  const since = Math.floor(question.sinceMs / 1_000) - CLOCK_SLACK_SECONDS;
  const options = { ...CONFIRMED, limit: CANDIDATES_MAX };
  const newest = await ask(Signatures, 'getSignaturesForAddress', question.id.payer, options);
  for (const { signature, blockTime } of newest) {
    if (blockTime !== null && blockTime < since) return null;
    const finding = await findingIn(ask, signature, question);
    if (finding !== null) return finding;
  }
  if (newest.length >= CANDIDATES_MAX) throw new Error('too many transactions to go through');
  return null;
}

/** A message may be executed while the block that it names is one of the last 150. Twice as many: nodes are behind each other. */
const BLOCKS_OUTLIVED = 300;
/** Slots in which so many blocks are looked for: more than half of the slots have one. */
const SLOTS_SEARCHED = 600;

/**
 * Whether so many blocks were made since a time that no message of then can be executed any more. Counted in final blocks and not by a
 * clock: a chain that stood still takes the messages that it knew before.
 */
async function hasOutlived(ask: AskNode, sinceMs: number): Promise<boolean> {
  const head = await ask(Type.Integer({ minimum: 0 }), 'getSlot', FINALIZED);
  const from = Math.max(0, head - SLOTS_SEARCHED);
  const produced = await ask(Type.Array(Type.Integer({ minimum: 0 })), 'getBlocks', from, head, FINALIZED);
  const slot = produced.at(-1 - BLOCKS_OUTLIVED);
  if (slot === undefined) return false;
  const time = await ask(Type.Union([Type.Integer(), Type.Null()]), 'getBlockTime', slot);
  return time !== null && time >= sinceMs / 1_000 + CLOCK_SLACK_SECONDS;
}
