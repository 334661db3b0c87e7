import type { RingGraph } from './ring-graph.ts';

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
