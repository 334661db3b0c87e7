import type { Rpc } from '../../demo/chain/json-rpc.ts';

/** What the Portal of the tests has of a family of chains: the blocks of a local chain in its documented form, and what may be asked of them. */
export interface PortalDialect {
  readonly type: string;
  /** A hash that no chain of a test has. */
  readonly nowhere: string;
  /** By what is asked for: the fields that there are. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** By the name of a list: what its requests may have. */
  readonly requests: Readonly<Record<string, readonly string[]>>;
  heads(rpc: Rpc): Promise<Heads>;
  hashAt(rpc: Rpc, number: number): Promise<string | null>;
  /** The first blocks of a range, at most `max`, with all that is in them. */
  readAll(rpc: Rpc, from: number, to: number, max: number): Promise<PortalWireBlock[]>;
  /** What the requests of a query match in a block, and what they want with it: by the name of a list. */
  choose(block: PortalWireBlock, query: Readonly<Record<string, unknown>>): Record<string, Items>;
}

export interface Heads {
  readonly head: number;
  readonly finalized: number;
}

export type Items = readonly Readonly<Record<string, unknown>>[];

export interface PortalWireBlock {
  readonly header: Readonly<Record<string, unknown>>;
  readonly [list: string]: unknown;
}

export type Request = Readonly<Record<string, unknown>>;

export function requestsOf(query: Readonly<Record<string, unknown>>, list: string): readonly Request[] {
  return (query[list] ?? []) as readonly Request[]; // our own client's query
}

/** Whether a request lists the value of each of these, or does not care. */
export function isListed(request: Request, values: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(values).every(([key, value]) => {
    const listed = request[key];
    return listed === undefined || (Array.isArray(listed) && listed.includes(value));
  });
}

/** Numbers as numbers, amounts as hex quantities. */
export interface WireBlock extends PortalWireBlock {
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

export const EVM_DIALECT: PortalDialect = {
  type: 'evm',
  nowhere: `0x${'ba5eba11'.repeat(8)}`,
  fields: {
    block: ['number', 'hash', 'parentHash', 'timestamp', 'logsBloom'],
    log: ['address', 'topics', 'data', 'logIndex', 'transactionHash', 'transactionIndex'],
    transaction: ['hash', 'from', 'to', 'input', 'status', 'gasUsed', 'effectiveGasPrice', 'l1Fee'],
  },
  requests: { logs: ['address', 'topic0', 'topic1', 'topic2', 'topic3', 'transaction'] },
  async heads(rpc) {
    const [head, finalized] = await Promise.all([
      rpc.call<string>('eth_blockNumber'),
      rpc.call<{ number: string } | null>('eth_getBlockByNumber', 'finalized', false),
    ]);
    return { head: Number(head), finalized: Number(finalized?.number ?? 0) };
  },
  async hashAt(rpc, number) {
    const at = `0x${number.toString(16)}`;
    return (await rpc.call<{ hash: string } | null>('eth_getBlockByNumber', at, false))?.hash ?? null;
  },
  readAll: (rpc, from, to, max) => readAll(rpc, from, Math.min(to, from + max - 1)),
  choose(block, query) {
    const { logs, transactions } = block as WireBlock; // by `readAll`
    const requests = requestsOf(query, 'logs');
    const isMatch = (request: Request, { address, topics }: WireBlock['logs'][number]): boolean =>
      isListed(request, {
        ...{ address, topic0: topics[0], topic1: topics[1], topic2: topics[2], topic3: topics[3] },
      });
    const paid = new Set(
      requests
        .filter(({ transaction }) => transaction === true)
        .flatMap((request) => logs.filter((log) => isMatch(request, log)))
        .map(({ transactionHash }) => transactionHash),
    );
    return {
      logs: logs.filter((log) => requests.some((request) => isMatch(request, log))),
      transactions: transactions.filter(({ hash }) => paid.has(hash)),
    };
  },
};
