import type { Address } from '../src/domain/address.ts';
import { EVIDENCE_LADDER, type EvidenceMethod, type EvidenceTier } from '../src/domain/evidence.ts';
import type { Hash } from '../src/domain/settlement.ts';
import type { Rpc } from './chain/json-rpc.ts';

/** One settlement as the chain's own receipts tell it, with the grade that whoever made it expects. */
export interface TrueRow {
  readonly blockNumber: number;
  readonly blockTime: number;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly payer: string;
  readonly payee: string;
  readonly amount: bigint;
  readonly relayer: string;
  readonly method: EvidenceMethod;
}

export interface LedgerRules {
  readonly token: Address;
  /** The x402 Permit2 proxies. */
  readonly proxies: ReadonlySet<string>;
  readonly cataloguedPayees: ReadonlySet<string>;
  /** The grade that the maker of a transaction expects for a settlement in it. Throws for one that nobody made. */
  readonly expectedMethod: (made: {
    readonly txHash: Hash;
    readonly relayer: string;
    readonly payee: string;
  }) => EvidenceMethod;
}

/**
 * What truly happened, kept by a reader that is as naive as possible: every receipt of every mined block, forgotten again
 * when a reorg undoes the block. It shares no code with the indexer: it exists to contradict it.
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
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const SETTLED = new Set([
  '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6',
  '0xde5b89d10fc800c459329c382fabfcad0be0ed7e5328e01fae04e507b09ef5d8',
]);

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: string;
}

interface Receipt {
  readonly transactionHash: Hash;
  readonly from: string;
  readonly status: string;
  readonly logs: readonly Log[];
}

interface Block {
  readonly rows: readonly TrueRow[];
  readonly transactions: readonly Hash[];
}

export function createLedger(rpc: Rpc, rules: LedgerRules): Ledger {
  const blocks = new Map<number, Block>();
  let count = 0;

  const recordBlock = async (number: number): Promise<void> => {
    const tag = `0x${number.toString(16)}`;
    const [header, receipts] = await Promise.all([
      rpc.call<{ timestamp: string }>('eth_getBlockByNumber', tag, false),
      rpc.call<readonly Receipt[]>('eth_getBlockReceipts', tag),
    ]);
    const at = { blockNumber: number, blockTime: Number(header.timestamp) };
    const rows = receipts.flatMap((receipt) => rowsOf(receipt, at, rules));
    blocks.set(number, { rows, transactions: receipts.map(({ transactionHash }) => transactionHash) });
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
        for (const { method } of rows) tiers[EVIDENCE_LADDER[method].tier] += 1;
      return tiers;
    },
    transactions: (block) => blocks.get(block)?.transactions ?? [],
  };
}

function rowsOf(
  receipt: Receipt,
  at: Pick<TrueRow, 'blockNumber' | 'blockTime'>,
  rules: LedgerRules,
): TrueRow[] {
  if (receipt.status !== '0x1') return [];
  const settledByProxy = receipt.logs.some(
    ({ address, topics }) => rules.proxies.has(address) && SETTLED.has(topics[0] ?? ''),
  );
  return receipt.logs.flatMap((log, position) => {
    if (log.address !== rules.token || log.topics[0] !== TRANSFER) return [];
    const payer = `0x${log.topics[1]?.slice(-40)}`;
    const payee = `0x${log.topics[2]?.slice(-40)}`;
    const before = receipt.logs[position - 1];
    const authorized = before?.topics[0] === AUTHORIZATION_USED && before.topics[1] === log.topics[1];
    if (!authorized && !settledByProxy && !rules.cataloguedPayees.has(payee)) return [];
    const made = { txHash: receipt.transactionHash, relayer: receipt.from, payee };
    const method = rules.expectedMethod(made);
    return [{ ...at, ...made, logIndex: Number(log.logIndex), payer, amount: BigInt(log.data), method }];
  });
}
