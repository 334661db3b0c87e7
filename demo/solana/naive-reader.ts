import { createRpc } from '../chain/json-rpc.ts';

/**
 * The payments of a Solana chain, read as naively as possible: from the token balances before and after each transaction, and who paid its
 * fee. It looks at no instruction and shares no code with the indexer, because the indexer is checked against it.
 */

export interface NaivePayment {
  readonly slot: number;
  readonly blockTime: number | null;
  /** Of the transaction within its block. */
  readonly transactionIndex: number;
  readonly signature: string;
  readonly feePayer: string;
  readonly mint: string;
  /** Owners of token accounts, never the accounts. */
  readonly payer: string;
  readonly payee: string;
  /** What the payee got. */
  readonly amount: bigint;
  /** True if the fee was paid by another than the payer. */
  readonly isSponsored: boolean;
}

/** By how much a transaction changed what an owner has of a token. */
export interface NaiveChange {
  readonly signature: string;
  readonly mint: string;
  readonly owner: string;
  readonly change: bigint;
}

export interface NaiveReading {
  /** In the order of the chain. */
  readonly payments: readonly NaivePayment[];
  /** Every change of every listed token, of transactions as well whose payments balances do not tell apart. */
  readonly changes: readonly NaiveChange[];
  /** Transactions in which several owners lost a token and several got it. */
  readonly unclear: readonly string[];
  /** Slots of [from, to] with a block. */
  readonly slots: readonly number[];
}

export interface NaiveRange {
  readonly mints: readonly string[];
  readonly from: number;
  /** Default: the newest final slot. */
  readonly to?: number;
  /** Default: finalized. */
  readonly commitment?: 'confirmed' | 'finalized';
}

interface Balance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner?: string;
  readonly uiTokenAmount: { readonly amount: string };
}

interface Block {
  readonly blockTime: number | null;
  readonly transactions: readonly {
    readonly transaction: {
      readonly signatures: readonly string[];
      readonly message: { readonly accountKeys: readonly string[] };
    };
    readonly meta: {
      readonly err: unknown;
      readonly preTokenBalances?: readonly Balance[];
      readonly postTokenBalances?: readonly Balance[];
    };
  }[];
}

/** Blocks per batch of calls. */
const BATCH_BLOCKS = 20;

export async function readSolanaNaively(url: string, range: NaiveRange): Promise<NaiveReading> {
  const { mints, from, commitment = 'finalized' } = range;
  const rpc = createRpc(url);
  const to = range.to ?? (await rpc.call<number>('getSlot', { commitment }));
  const slots = await rpc.call<number[]>('getBlocks', from, to, { commitment });
  const reading = {
    payments: [] as NaivePayment[],
    changes: [] as NaiveChange[],
    unclear: [] as string[],
    slots,
  };
  const options = { encoding: 'json', rewards: false, maxSupportedTransactionVersion: 0, commitment };
  for (let start = 0; start < slots.length; start += BATCH_BLOCKS) {
    const part = slots.slice(start, start + BATCH_BLOCKS);
    const blocks = await rpc.batch<Block>(
      part.map((slot) => ({ method: 'getBlock', params: [slot, options] })),
    );
    for (const [at, block] of blocks.entries()) readBlock(part[at] ?? 0, block, new Set(mints), reading);
  }
  return reading;
}

interface Growing {
  readonly payments: NaivePayment[];
  readonly changes: NaiveChange[];
  readonly unclear: string[];
}

function readBlock(
  slot: number,
  { blockTime, transactions }: Block,
  mints: ReadonlySet<string>,
  into: Growing,
): void {
  for (const [transactionIndex, { transaction, meta }] of transactions.entries()) {
    if (meta.err !== null) continue;
    const [signature = ''] = transaction.signatures;
    const [feePayer = ''] = transaction.message.accountKeys;
    for (const [mint, byOwner] of changesOf(meta)) {
      if (!mints.has(mint)) continue;
      const changed = [...byOwner].filter(([, change]) => change !== 0n);
      into.changes.push(...changed.map(([owner, change]) => ({ signature, mint, owner, change })));
      const paid = whoPaidWhom(changed);
      if (paid === undefined) into.unclear.push(signature);
      const at = { slot, blockTime, transactionIndex, signature, feePayer, mint };
      const payments = paid ?? [];
      into.payments.push(...payments.map((one) => ({ ...at, ...one, isSponsored: one.payer !== feePayer })));
    }
  }
}

/** Undefined where several owners lost and several got: balances do not tell then. */
function whoPaidWhom(
  changed: readonly (readonly [owner: string, change: bigint])[],
): Pick<NaivePayment, 'payer' | 'payee' | 'amount'>[] | undefined {
  const losers = changed.filter(([, change]) => change < 0n);
  const gainers = changed.filter(([, change]) => change > 0n);
  const [[payer = ''] = []] = losers;
  const [[payee = ''] = []] = gainers;
  if (losers.length === 0 || gainers.length === 0) return [];
  if (losers.length === 1) return gainers.map(([owner, got]) => ({ payer, payee: owner, amount: got }));
  // Of a token that withholds fees this is what was sent: balances do not tell from whose payment a fee came.
  if (gainers.length === 1) return losers.map(([owner, lost]) => ({ payer: owner, payee, amount: -lost }));
  return undefined;
}

type Meta = Block['transactions'][number]['meta'];

/** By mint, by owner. */
function changesOf({
  preTokenBalances = [],
  postTokenBalances = [],
}: Meta): Map<string, Map<string, bigint>> {
  const changes = new Map<string, Map<string, bigint>>();
  const add = ({ mint, owner = '', uiTokenAmount }: Balance, sign: bigint): void => {
    const byOwner = changes.get(mint) ?? new Map<string, bigint>();
    changes.set(mint, byOwner);
    byOwner.set(owner, (byOwner.get(owner) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
  };
  for (const balance of preTokenBalances) add(balance, -1n);
  for (const balance of postTokenBalances) add(balance, 1n);
  return changes;
}
