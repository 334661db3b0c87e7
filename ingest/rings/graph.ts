import { setImmediate as turn } from 'node:timers/promises';

/**
 * The payment graph as integers: wallets ordered by address, edges by strength. So the smallest member of a ring is its smallest
 * number, and its weakest payment its highest rank.
 */

/** Everything that one wallet paid to another in the window; never to itself. */
export interface PaymentEdge {
  readonly payer: string;
  readonly payee: string;
  readonly usdMicros: bigint;
}

export interface RingGraph {
  /** Wallets by number, ascending. */
  readonly wallets: readonly string[];
  /** Edges by rank, strongest first. Includes edges that no ring can use, which are in none of the lists. */
  readonly edges: readonly PaymentEdge[];
  /** For each wallet, the wallets that it paid and the ranks of those edges, side by side. */
  readonly payees: Neighbours;
  /** For each wallet, the wallets that paid it and the ranks of those edges. */
  readonly payers: Neighbours;
  /** Whether a wallet lost edges to the degree limit. */
  readonly isDegreeCapped: boolean;
}

export interface Neighbours {
  readonly wallets: readonly (readonly number[])[];
  readonly ranks: readonly (readonly number[])[];
}

/** A total order, so that every run cuts and keeps the same edges. */
export function byStrength(a: PaymentEdge, b: PaymentEdge): number {
  if (a.usdMicros !== b.usdMicros) return a.usdMicros > b.usdMicros ? -1 : 1;
  return compareText(a.payer, b.payer) || compareText(a.payee, b.payee);
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The ends of each edge, by rank; `isAlive` is 0 for removed edges. */
interface Ends {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly isAlive: Uint8Array;
  readonly walletCount: number;
}

/**
 * `degreeMax` bounds the edges of a wallet in each direction; the strongest stay. Yields to the event loop between steps, each of
 * which takes some 100 ms with the maximum number of edges.
 */
export async function buildGraph(payments: readonly PaymentEdge[], degreeMax: number): Promise<RingGraph> {
  const edges = payments.filter(({ payer, payee }) => payer !== payee).sort(byStrength);
  await turn();
  const wallets = namesOf(edges);
  await turn();
  const ends = numbered(edges, wallets);
  await turn();
  // Also before the limit: useless edges must not displace useful ones.
  pruneDeadEnds(ends);
  const isDegreeCapped = keepStrongest(ends, degreeMax);
  await turn();
  pruneDeadEnds(ends);
  const payees = neighbours(ends, ends.from, ends.to);
  await turn();
  return { wallets, edges, payees, payers: neighbours(ends, ends.to, ends.from), isDegreeCapped };
}

function namesOf(edges: readonly PaymentEdge[]): string[] {
  const names = new Set<string>();
  for (const { payer, payee } of edges) names.add(payer).add(payee);
  return [...names].sort(compareText);
}

function numbered(edges: readonly PaymentEdge[], wallets: readonly string[]): Ends {
  const numbers = new Map(wallets.map((wallet, number) => [wallet, number]));
  const numberOf = (wallet: string): number => numbers.get(wallet) ?? -1;
  return {
    from: Int32Array.from(edges, ({ payer }) => numberOf(payer)),
    to: Int32Array.from(edges, ({ payee }) => numberOf(payee)),
    isAlive: new Uint8Array(edges.length).fill(1),
    walletCount: wallets.length,
  };
}

/**
 * Removes the edges of wallets without an incoming or without an outgoing edge, until none is left: no ring can contain them. Visits
 * each edge a fixed number of times, because a long chain of payments would make repeated passes quadratic.
 */
function pruneDeadEnds(ends: Ends): void {
  const { from, to, isAlive, walletCount } = ends;
  const [paid, received] = [neighbours(ends, from, to), neighbours(ends, to, from)];
  const paidLeft = paid.ranks.map(({ length }) => length);
  const receivedLeft = received.ranks.map(({ length }) => length);
  const isDead = (wallet: number): boolean => paidLeft[wallet] === 0 || receivedLeft[wallet] === 0;
  const dead = Array.from({ length: walletCount }, (_, wallet) => wallet).filter(isDead);
  for (let wallet = dead.pop(); wallet !== undefined; wallet = dead.pop()) {
    for (const rank of [...(paid.ranks[wallet] ?? []), ...(received.ranks[wallet] ?? [])]) {
      if (isAlive[rank] === 0) continue;
      isAlive[rank] = 0;
      const [payer, payee] = [from[rank] ?? -1, to[rank] ?? -1];
      if (decrement(paidLeft, payer) === 0) dead.push(payer);
      if (decrement(receivedLeft, payee) === 0) dead.push(payee);
    }
  }
}

function decrement(counts: number[], wallet: number): number {
  const next = (counts[wallet] ?? 0) - 1;
  counts[wallet] = next;
  return next;
}

/** Removes all but the strongest edges of each wallet in each direction; true if it removed any. */
function keepStrongest({ from, to, isAlive, walletCount }: Ends, degreeMax: number): boolean {
  const paid = new Int32Array(walletCount);
  const received = new Int32Array(walletCount);
  let isCapped = false;
  for (let rank = 0; rank < isAlive.length; rank++) {
    if (isAlive[rank] === 0) continue;
    const [payer, payee] = [from[rank] ?? -1, to[rank] ?? -1];
    const [out, into] = [paid[payer] ?? 0, received[payee] ?? 0];
    const isKept = out < degreeMax && into < degreeMax;
    if (isKept) {
      paid[payer] = out + 1;
      received[payee] = into + 1;
    } else {
      isAlive[rank] = 0;
      isCapped = true;
    }
  }
  return isCapped;
}

/** The live edges by the wallet at one end: the wallet at the other, and the rank. */
function neighbours({ isAlive, walletCount }: Ends, near: Int32Array, far: Int32Array): Neighbours {
  const wallets: number[][] = Array.from({ length: walletCount }, () => []);
  const ranks: number[][] = Array.from({ length: walletCount }, () => []);
  for (let rank = 0; rank < isAlive.length; rank++) {
    if (isAlive[rank] === 0) continue;
    wallets[near[rank] ?? -1]?.push(far[rank] ?? -1);
    ranks[near[rank] ?? -1]?.push(rank);
  }
  return { wallets, ranks };
}
