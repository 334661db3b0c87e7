import type { Address } from './account.ts';

export const GRAPH_EDGES_MAX = 5_000;
export const GRAPH_DAYS_MAX = 90;
/** Numbers of whole days before today whose largest pairs the worker adds up beforehand. */
export const GRAPH_DAYS_KEPT: readonly number[] = [1, 7, 30, GRAPH_DAYS_MAX];

/** Everything that one wallet paid another (or itself) within some span of time. */
export interface PaymentPair {
  readonly payer: Address;
  readonly payee: Address;
  readonly usdMicros: bigint;
  readonly count: number;
  /** Unix seconds. */
  readonly firstSeen: number;
  readonly lastSeen: number;
}

export interface GraphNode {
  readonly wallet: Address;
  readonly inUsdMicros: bigint;
  readonly outUsdMicros: bigint;
  readonly inCount: number;
  readonly outCount: number;
}

/**
 * Payments between wallets. The figures of a node are the sums of its edges, so all nodes together have exactly twice the dollars
 * and settlements of all edges, even if edges were cut.
 */
export interface PaymentGraph {
  /** Largest sum of in and out first. */
  readonly nodes: readonly GraphNode[];
  /** Largest first; never from a wallet to itself. */
  readonly edges: readonly PaymentPair[];
  /** Whether smaller edges were left out. */
  readonly isCut: boolean;
  /** Payments of wallets to themselves: counted, not shown. */
  readonly selfPayments: { readonly count: number; readonly usdMicros: bigint };
}

/** Pairs from several reads may repeat; they are summed. */
export function buildPaymentGraph(pairs: Iterable<PaymentPair>, edgesMax: number): PaymentGraph {
  const sums = addUp(pairs);
  const self = sums.filter(({ payer, payee }) => payer === payee);
  const between = sums.filter(({ payer, payee }) => payer !== payee).sort(byUsd);
  const edges = between.slice(0, edgesMax);
  return {
    nodes: nodesOf(edges),
    edges,
    isCut: edges.length < between.length,
    selfPayments: {
      count: self.reduce((sum, { count }) => sum + count, 0),
      usdMicros: self.reduce((sum, { usdMicros }) => sum + usdMicros, 0n),
    },
  };
}

function addUp(pairs: Iterable<PaymentPair>): PaymentPair[] {
  const sums = new Map<string, PaymentPair>();
  for (const pair of pairs) {
    const key = `${pair.payer}${pair.payee}`;
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? pair : joined(sum, pair));
  }
  return [...sums.values()];
}

function joined(a: PaymentPair, b: PaymentPair): PaymentPair {
  return {
    payer: a.payer,
    payee: a.payee,
    usdMicros: a.usdMicros + b.usdMicros,
    count: a.count + b.count,
    firstSeen: Math.min(a.firstSeen, b.firstSeen),
    lastSeen: Math.max(a.lastSeen, b.lastSeen),
  };
}

/** Payer and payee break ties, so that the same payments always give the same graph. */
function byUsd(a: PaymentPair, b: PaymentPair): number {
  return descending(a.usdMicros, b.usdMicros) || ascending(a.payer, b.payer) || ascending(a.payee, b.payee);
}

function descending(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a > b ? -1 : 1;
}

function ascending(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function nodesOf(edges: readonly PaymentPair[]): GraphNode[] {
  const nodes = new Map<Address, GraphNode>();
  const add = (wallet: Address, change: Partial<GraphNode>): void => {
    const node = nodes.get(wallet);
    nodes.set(wallet, {
      wallet,
      inUsdMicros: (node?.inUsdMicros ?? 0n) + (change.inUsdMicros ?? 0n),
      outUsdMicros: (node?.outUsdMicros ?? 0n) + (change.outUsdMicros ?? 0n),
      inCount: (node?.inCount ?? 0) + (change.inCount ?? 0),
      outCount: (node?.outCount ?? 0) + (change.outCount ?? 0),
    });
  };
  for (const { payer, payee, usdMicros, count } of edges) {
    add(payer, { outUsdMicros: usdMicros, outCount: count });
    add(payee, { inUsdMicros: usdMicros, inCount: count });
  }
  const moved = ({ inUsdMicros, outUsdMicros }: GraphNode): bigint => inUsdMicros + outUsdMicros;
  return [...nodes.values()].sort((a, b) => descending(moved(a), moved(b)) || ascending(a.wallet, b.wallet));
}
