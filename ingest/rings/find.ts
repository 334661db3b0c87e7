import { setImmediate as turn } from 'node:timers/promises';
import { buildGraph, type PaymentEdge, type RingGraph } from './graph.ts';

export interface RingLimits {
  /** Edges per wallet and direction that are searched: the strongest. */
  readonly degreeMax: number;
  readonly ringsPerWalletMax: number;
  /** Edges walked in one search, about 20 ns each. */
  readonly stepsMax: number;
  /** Edges walked before yielding to the event loop. */
  readonly stepsPerTurn: number;
}

/** Limits that a search reached; each means that rings may be missing. */
export type RingCap = 'degree' | 'rings_per_wallet' | 'steps';

export interface Ring {
  /** Two to four wallets: each paid the next, the last the first; the smallest address first. */
  readonly members: readonly string[];
  /** The smallest of the payments from member to member. */
  readonly bottleneckUsdMicros: bigint;
  /** The sum of the payments from member to member. */
  readonly ringUsdMicros: bigint;
}

export interface FoundRings {
  /** Rings of each wallet that has any, strongest first. A ring stands under each of its members. */
  readonly byWallet: ReadonlyMap<string, readonly Ring[]>;
  /** Rings found, also those that no wallet kept. */
  readonly ringCount: number;
  readonly capped: readonly RingCap[];
}

/**
 * Finds every cycle of two, three and four wallets in a payment graph. Finds each once: from its smallest member, through larger ones
 * only. Payments of a wallet to itself are not edges.
 */
export async function findRings(
  edges: readonly PaymentEdge[],
  limits: RingLimits,
  signal?: AbortSignal,
): Promise<FoundRings> {
  const graph = await buildGraph(edges, limits.degreeMax);
  const kept = createStrongestRings(graph, limits.ringsPerWalletMax);
  const closing = new Int32Array(graph.wallets.length).fill(-1);
  let steps = 0;
  let stepsBeforeTurn = limits.stepsPerTurn;
  for (let start = 0; start < graph.wallets.length && steps <= limits.stepsMax; start++) {
    if (!markClosing(graph, start, closing)) continue;
    for (let at = 0; at < (graph.payees.wallets[start]?.length ?? 0) && steps <= limits.stepsMax; at++) {
      steps += walkFrom(graph, { start, at, closing }, kept);
      if (steps < stepsBeforeTurn) continue;
      stepsBeforeTurn = steps + limits.stepsPerTurn;
      await turn();
      signal?.throwIfAborted();
    }
    unmarkClosing(graph, start, closing);
  }
  const capped: RingCap[] = [];
  if (graph.isDegreeCapped) capped.push('degree');
  if (kept.isCapped()) capped.push('rings_per_wallet');
  if (steps > limits.stepsMax) capped.push('steps');
  return { byWallet: named(graph, kept), ringCount: kept.seen(), capped };
}

/** Notes at each larger payer of `start` the rank of the payment that would close a ring; false when there is none. */
function markClosing({ payers }: RingGraph, start: number, closing: Int32Array): boolean {
  let any = false;
  for (const [at, payer] of (payers.wallets[start] ?? []).entries()) {
    if (payer < start) continue;
    closing[payer] = payers.ranks[start]?.[at] ?? -1;
    any = true;
  }
  return any;
}

function unmarkClosing({ payers }: RingGraph, start: number, closing: Int32Array): void {
  for (const payer of payers.wallets[start] ?? []) closing[payer] = -1;
}

interface Start {
  readonly start: number;
  /** Which of its payees is the second member. */
  readonly at: number;
  readonly closing: Int32Array;
}

/** A partial walk: members larger than the first, and the ranks of the payments between them. */
interface Walk {
  readonly members: readonly number[];
  readonly ranks: readonly number[];
}

/** Walks from `start` over its payee `at` to up to four members; returns how many edges it looked at. */
function walkFrom(graph: RingGraph, { start, at, closing }: Start, kept: StrongestRings): number {
  const second = graph.payees.wallets[start]?.[at] ?? -1;
  if (second < start) return 1;
  const walk: Walk = { members: [start, second], ranks: [graph.payees.ranks[start]?.[at] ?? -1] };
  close(walk, closing, kept);
  const [next, ranks] = [graph.payees.wallets[second] ?? [], graph.payees.ranks[second] ?? []];
  let steps = 1 + next.length;
  for (let i = 0; i < next.length; i++) {
    const third = next[i] ?? -1;
    if (third > start) steps += walkLast(graph, extended(walk, third, ranks[i] ?? -1), closing, kept);
  }
  return steps;
}

function walkLast(graph: RingGraph, walk: Walk, closing: Int32Array, kept: StrongestRings): number {
  close(walk, closing, kept);
  const [start = -1, second = -1, third = -1] = walk.members;
  const [next, ranks] = [graph.payees.wallets[third] ?? [], graph.payees.ranks[third] ?? []];
  for (let i = 0; i < next.length; i++) {
    const fourth = next[i] ?? -1;
    // Most walks end here, so check whether it closes before allocating anything.
    if (fourth > start && fourth !== second && (closing[fourth] ?? -1) >= 0)
      close(extended(walk, fourth, ranks[i] ?? -1), closing, kept);
  }
  return next.length;
}

function extended({ members, ranks }: Walk, member: number, rank: number): Walk {
  return { members: [...members, member], ranks: [...ranks, rank] };
}

/** The walk is a ring when its last member paid the first. */
function close({ members, ranks }: Walk, closing: Int32Array, kept: StrongestRings): void {
  const rank = closing[members.at(-1) ?? -1] ?? -1;
  if (rank >= 0) kept.add(members, [...ranks, rank]);
}

/** From numbers back to addresses; members of a ring share one object. */
function named(graph: RingGraph, kept: StrongestRings): ReadonlyMap<string, readonly Ring[]> {
  const rings = new Map<RankedRing, Ring>();
  const nameOf = (ranked: RankedRing): Ring => {
    const known = rings.get(ranked);
    if (known !== undefined) return known;
    const ring = asRing(graph, ranked);
    rings.set(ranked, ring);
    return ring;
  };
  const lists = kept.lists();
  return new Map(
    graph.wallets
      .map((wallet, number) => [wallet, (lists[number] ?? []).map(nameOf)] as const)
      .filter(([, own]) => own.length > 0),
  );
}

function asRing({ wallets, edges }: RingGraph, { members, ranks, weakest }: RankedRing): Ring {
  const usdOf = (rank: number): bigint => edges[rank]?.usdMicros ?? 0n;
  return {
    members: members.map((member) => wallets[member] ?? ''),
    bottleneckUsdMicros: usdOf(weakest),
    ringUsdMicros: ranks.reduce((sum, rank) => sum + usdOf(rank), 0n),
  };
}

/** A ring as the search sees it: numbers of wallets, and the ranks of the payments between them. */
export interface RankedRing {
  /** In the direction of the payments, from the smallest number on. */
  readonly members: readonly number[];
  readonly ranks: readonly number[];
  /** The rank of its weakest payment. */
  readonly weakest: number;
}

export interface StrongestRings {
  add(members: readonly number[], ranks: readonly number[]): void;
  /** Rings seen, kept or not. */
  readonly seen: () => number;
  readonly isCapped: () => boolean;
  /** For each wallet, its rings, strongest first. */
  readonly lists: () => readonly (readonly RankedRing[])[];
}

/** Keeps for each wallet the `keptMax` strongest of the rings that it is shown. Memory is bounded whatever the search finds. */
export function createStrongestRings(graph: RingGraph, keptMax: number): StrongestRings {
  const lists: RankedRing[][] = graph.wallets.map(() => []);
  let seen = 0;
  let isCapped = false;
  return {
    add(members, ranks) {
      seen += 1;
      const ring: RankedRing = { members, ranks, weakest: Math.max(...ranks) };
      for (const member of members) {
        const list = lists[member];
        if (list !== undefined && insert(list, ring, keptMax)) isCapped = true;
      }
    },
    seen: () => seen,
    isCapped: () => isCapped,
    lists: () => lists,
  };
}

/** Puts a ring at its place; true when a ring had to go. */
function insert(list: RankedRing[], ring: RankedRing, keptMax: number): boolean {
  let at = list.length;
  while (at > 0 && isStronger(ring, list[at - 1])) at -= 1;
  if (at >= keptMax) return true;
  list.splice(at, 0, ring);
  return list.length > keptMax && list.pop() !== undefined;
}

/** By the weakest payment, then the shorter, then by members: a total order. */
function isStronger(ring: RankedRing, other: RankedRing | undefined): boolean {
  if (other === undefined) return true;
  if (ring.weakest !== other.weakest) return ring.weakest < other.weakest;
  if (ring.members.length !== other.members.length) return ring.members.length < other.members.length;
  const differs = ring.members.findIndex((member, at) => member !== other.members[at]);
  return (ring.members[differs] ?? 0) < (other.members[differs] ?? 0);
}
