/**
 * The payment graph as integers: wallets in the order of their addresses, edges in the order of their strength. So the smallest
 * member of a ring is its smallest number, and the weakest payment of a ring its highest rank.
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
  /** Edges by rank: strongest first. */
  readonly edges: readonly PaymentEdge[];
  /** For each wallet, the wallets that it paid and the ranks of those edges, side by side. */
  readonly payees: readonly (readonly number[])[];
  readonly payeeRanks: readonly (readonly number[])[];
  /** For each wallet, the wallets that paid it and the ranks of those edges. */
  readonly payers: readonly (readonly number[])[];
  readonly payerRanks: readonly (readonly number[])[];
  /** Whether a wallet lost edges to the degree limit. */
  readonly isDegreeCapped: boolean;
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

/** `degreeMax` bounds what a wallet pays to and is paid by; its strongest edges stay. */
export function buildGraph(payments: readonly PaymentEdge[], degreeMax: number): RingGraph {
  const between = payments.filter(({ payer, payee }) => payer !== payee).sort(byStrength);
  // Pruned before the limit as well: edges that no ring can use must not push out those that one can.
  const candidates = pruneDeadEnds(between);
  const kept = strongestOf(candidates, degreeMax);
  const edges = pruneDeadEnds(kept);
  return { ...numbered(edges), edges, isDegreeCapped: kept.length < candidates.length };
}

/**
 * Removes edges from wallets that nobody pays and to wallets that pay nobody, until none is left: no ring passes there. Each
 * edge is visited a fixed number of times, because a long chain of payments would make repeated passes quadratic.
 */
export function pruneDeadEnds(edges: readonly PaymentEdge[]): readonly PaymentEdge[] {
  const sides = { paid: new Map<string, PaymentEdge[]>(), received: new Map<string, PaymentEdge[]>() };
  for (const edge of edges) {
    append(sides.paid, edge.payer, edge);
    append(sides.received, edge.payee, edge);
  }
  const left = (map: ReadonlyMap<string, readonly PaymentEdge[]>) =>
    new Map([...map].map(([wallet, own]) => [wallet, own.length]));
  const counts = { paid: left(sides.paid), received: left(sides.received) };
  const removed = new Set<PaymentEdge>();
  const ends = [...new Set([...sides.paid.keys(), ...sides.received.keys()])].filter(
    (wallet) => !(sides.paid.has(wallet) && sides.received.has(wallet)),
  );
  for (let wallet = ends.pop(); wallet !== undefined; wallet = ends.pop()) {
    for (const edge of [...(sides.paid.get(wallet) ?? []), ...(sides.received.get(wallet) ?? [])]) {
      if (removed.has(edge)) continue;
      removed.add(edge);
      if (decrement(counts.paid, edge.payer) === 0) ends.push(edge.payer);
      if (decrement(counts.received, edge.payee) === 0) ends.push(edge.payee);
    }
  }
  return edges.filter((edge) => !removed.has(edge));
}

function append(map: Map<string, PaymentEdge[]>, wallet: string, edge: PaymentEdge): void {
  const own = map.get(wallet);
  if (own === undefined) map.set(wallet, [edge]);
  else own.push(edge);
}

function decrement(counts: Map<string, number>, wallet: string): number {
  const next = (counts.get(wallet) ?? 0) - 1;
  counts.set(wallet, next);
  return next;
}

function strongestOf(edges: readonly PaymentEdge[], degreeMax: number): readonly PaymentEdge[] {
  const paid = new Map<string, number>();
  const received = new Map<string, number>();
  return edges.filter(({ payer, payee }) => {
    const [out, into] = [paid.get(payer) ?? 0, received.get(payee) ?? 0];
    if (out >= degreeMax || into >= degreeMax) return false;
    paid.set(payer, out + 1);
    received.set(payee, into + 1);
    return true;
  });
}

function numbered(edges: readonly PaymentEdge[]) {
  const wallets = [...new Set(edges.flatMap(({ payer, payee }) => [payer, payee]))].sort(compareText);
  const numbers = new Map(wallets.map((wallet, number) => [wallet, number]));
  const lists = (): number[][] => wallets.map(() => []);
  const [payees, payeeRanks, payers, payerRanks] = [lists(), lists(), lists(), lists()];
  for (const [rank, { payer, payee }] of edges.entries()) {
    const [from = -1, to = -1] = [numbers.get(payer), numbers.get(payee)];
    payees[from]?.push(to);
    payeeRanks[from]?.push(rank);
    payers[to]?.push(from);
    payerRanks[to]?.push(rank);
  }
  return { wallets, payees, payeeRanks, payers, payerRanks };
}
