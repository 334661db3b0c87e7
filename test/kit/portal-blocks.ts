import type { Rpc } from '../../demo/chain/json-rpc.ts';

/** Blocks of a local chain in the shape of the SQD Portal: numbers as numbers, amounts as hex quantities. */
export interface WireBlock {
  readonly header: Readonly<Record<string, unknown>>;
  readonly logs: readonly {
    readonly address: string;
    readonly topics: readonly string[];
    readonly transactionHash: string;
    readonly [field: string]: unknown;
  }[];
  readonly transactions: readonly { readonly hash: string; readonly [field: string]: unknown }[];
}

interface RawBlock {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly logsBloom: string;
  readonly transactions: readonly {
    readonly hash: string;
    readonly from: string;
    readonly to: string | null;
    readonly input: string;
  }[];
}

interface RawReceipt {
  readonly transactionHash: string;
  readonly status: string;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly l1Fee?: string;
  readonly logs: readonly {
    readonly address: string;
    readonly topics: readonly string[];
    readonly data: string;
    readonly logIndex: string;
    readonly transactionHash: string;
    readonly transactionIndex: string;
  }[];
}

const BLOCKS_PER_BATCH = 50;

/** Every block of the range with all of its logs and transactions. */
export async function readAll(rpc: Rpc, from: number, to: number): Promise<WireBlock[]> {
  const blocks: WireBlock[] = [];
  for (let start = from; start <= to; start += BLOCKS_PER_BATCH) {
    const numbers = Array.from(
      { length: Math.min(BLOCKS_PER_BATCH, to - start + 1) },
      (_, at) => `0x${(start + at).toString(16)}`,
    );
    const [raw, receipts] = await Promise.all([
      rpc.batch<RawBlock>(
        numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [number, true] })),
      ),
      rpc.batch<readonly RawReceipt[]>(
        numbers.map((number) => ({ method: 'eth_getBlockReceipts', params: [number] })),
      ),
    ]);
    for (const [at, block] of raw.entries()) blocks.push(wireBlock(block, receipts[at] ?? []));
  }
  return blocks;
}

function wireBlock(block: RawBlock, receipts: readonly RawReceipt[]): WireBlock {
  const { hash, parentHash, logsBloom } = block;
  const byHash = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  return {
    header: { number: Number(block.number), hash, parentHash, timestamp: Number(block.timestamp), logsBloom },
    logs: receipts.flatMap(({ logs }) =>
      logs.map(({ address, topics, data, transactionHash, logIndex, transactionIndex }) => ({
        ...{ address: address.toLowerCase(), topics, data, transactionHash },
        ...{ logIndex: Number(logIndex), transactionIndex: Number(transactionIndex) },
      })),
    ),
    transactions: block.transactions.map(({ hash: own, from, to, input }) => {
      const receipt = byHash.get(own);
      return {
        ...{ hash: own, from, input, ...(to !== null && { to }) },
        ...{ status: Number(receipt?.status), gasUsed: receipt?.gasUsed },
        ...{ effectiveGasPrice: receipt?.effectiveGasPrice, l1Fee: receipt?.l1Fee },
      };
    }),
  };
}
