import type { Hex } from 'viem';
import type { Address, Hash } from '../core/domain/account.ts';
import { EVIDENCE_LADDER, type EvidenceMethod, type EvidenceTier } from '../core/domain/evidence.ts';
import { type ChannelMove, movesOf } from './chain/channel-moves.ts';
import type { Rpc } from './chain/json-rpc.ts';

/** One settlement as the chain's own receipts show it, with the grade that the demo expects of it. */
export interface TrueRow {
  readonly blockNumber: number;
  readonly blockTime: number;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly payer: string;
  readonly payee: string;
  readonly amount: bigint;
  readonly relayer: string;
  readonly kind: string;
  readonly channel: string | null;
  /** Null: the audit does not compare it. */
  readonly method: EvidenceMethod | null;
}

/** A payment in a receipt, and what of its transaction decides the grade. */
export interface PaidLog {
  readonly txHash: Hash;
  readonly relayer: string;
  readonly payer: string;
  readonly payee: string;
  readonly marker: 'authorization' | 'permit2' | 'claim' | 'capture' | 'none';
  /** Calldata of the whole transaction. */
  readonly input: string;
}

export interface LedgerRules {
  readonly chainId: number;
  readonly token: Address;
  /** The x402 Permit2 proxies. */
  readonly proxies: ReadonlySet<string>;
  readonly cataloguedPayees: ReadonlySet<string>;
  readonly expectedMethod: (paid: PaidLog) => EvidenceMethod | null;
}

/**
 * The truth, kept by a reader that is as naive as possible: every receipt of every mined block, dropped again when a reorg undoes
 * the block. It shares no code with the indexer, because the indexer is checked against it.
 */
export interface Ledger {
  /** Reads the receipts of blocks [from, to]. */
  record(from: number, to: number): Promise<void>;
  /** Forgets every block above `block`. */
  rollback(block: number): void;
  /** Surviving settlements. */
  readonly count: number;
  /** In the order of the chain. */
  rows(): TrueRow[];
  tiers(): Record<EvidenceTier, number>;
  /** Transactions of a block, in order, whether or not they paid anything. */
  transactions(block: number): readonly Hash[];
  /** Of a recorded block. */
  hashOf(block: number): Hash | undefined;
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const SETTLED = new Set([
  '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6',
  '0xde5b89d10fc800c459329c382fabfcad0be0ed7e5328e01fae04e507b09ef5d8',
]);

interface Log {
  readonly address: string;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: string;
}

interface Header {
  readonly hash: Hash;
  readonly timestamp: string;
  readonly transactions: readonly { readonly hash: Hash; readonly input: string }[];
}

interface Receipt {
  readonly transactionHash: Hash;
  readonly from: string;
  readonly status: string;
  readonly logs: readonly Log[];
}

interface Block {
  readonly hash: Hash;
  readonly rows: readonly TrueRow[];
  readonly transactions: readonly Hash[];
}

export function createLedger(rpc: Rpc, rules: LedgerRules): Ledger {
  const blocks = new Map<number, Block>();
  let count = 0;

  const recordBlock = async (number: number): Promise<void> => {
    const tag = `0x${number.toString(16)}`;
    const [header, receipts] = await Promise.all([
      rpc.call<Header>('eth_getBlockByNumber', tag, true),
      rpc.call<readonly Receipt[]>('eth_getBlockReceipts', tag),
    ]);
    const at = { blockNumber: number, blockTime: Number(header.timestamp) };
    const inputs = new Map(header.transactions.map(({ hash, input }) => [hash, input]));
    const rows = receipts.flatMap((receipt) =>
      rowsOf(receipt, { at, input: inputs.get(receipt.transactionHash) ?? '' }, rules),
    );
    const transactions = receipts.map(({ transactionHash }) => transactionHash);
    blocks.set(number, { hash: header.hash, rows, transactions });
    count += rows.length;
  };
  return {
    async record(from, to) {
      for (let number = from; number <= to; number++) await recordBlock(number);
    },
    rollback(block) {
      for (const [number, { rows }] of blocks) {
        if (number <= block) continue;
        blocks.delete(number);
        count -= rows.length;
      }
    },
    get count() {
      return count;
    },
    rows: () => [...blocks.values()].flatMap(({ rows }) => rows),
    tiers() {
      const tiers = { proven: 0, probable: 0, unproven: 0, not_x402: 0, ungraded: 0 };
      for (const { rows } of blocks.values())
        for (const { method } of rows)
          tiers[method === null ? 'ungraded' : EVIDENCE_LADDER[method].tier] += 1;
      return tiers;
    },
    transactions: (block) => blocks.get(block)?.transactions ?? [],
    hashOf: (block) => blocks.get(block)?.hash,
  };
}

interface Mined {
  readonly at: Pick<TrueRow, 'blockNumber' | 'blockTime'>;
  readonly input: string;
}

function rowsOf(receipt: Receipt, { at, input }: Mined, rules: LedgerRules): TrueRow[] {
  if (receipt.status !== '0x1') return [];
  const moves = movesOf(receipt.logs, input as Hex, rules.chainId);
  // The transfers of such a transaction carried the tokens of its channels.
  if (moves.length > 0) return moves.map((move) => rowOfMove(receipt, { at, input }, move, rules));
  const settledByProxy = receipt.logs.some(
    ({ address, topics }) => rules.proxies.has(address) && SETTLED.has(topics[0] ?? ''),
  );
  return receipt.logs.flatMap((log, position) => {
    if (log.address !== rules.token || log.topics[0] !== TRANSFER) return [];
    const payer = `0x${log.topics[1]?.slice(-40)}`;
    const payee = `0x${log.topics[2]?.slice(-40)}`;
    const before = receipt.logs[position - 1];
    const authorized = before?.topics[0] === AUTHORIZATION_USED && before.topics[1] === log.topics[1];
    const unauthorized = settledByProxy ? 'permit2' : 'none';
    const marker = authorized ? 'authorization' : unauthorized;
    if (marker === 'none' && !rules.cataloguedPayees.has(payee)) return [];
    const made = { txHash: receipt.transactionHash, relayer: receipt.from, payer, payee };
    const method = rules.expectedMethod({ ...made, marker, input });
    const logIndex = Number(log.logIndex);
    return [{ ...at, ...made, logIndex, amount: BigInt(log.data), kind: 'payment', channel: null, method }];
  });
}

function rowOfMove(receipt: Receipt, { at, input }: Mined, move: ChannelMove, rules: LedgerRules): TrueRow {
  const { payer, payee, kind, channel, amount } = move;
  const made = { txHash: receipt.transactionHash, relayer: receipt.from, payer, payee };
  const marker = move.scheme === 'batch-settlement' ? 'claim' : 'capture';
  const method = kind === 'payment' ? rules.expectedMethod({ ...made, marker, input }) : 'channel_move';
  return { ...at, ...made, logIndex: move.index, amount, kind, channel, method };
}
