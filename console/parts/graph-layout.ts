import { microsOf } from './money.ts';
import { columnHeight, piecesOf, type Slot, slotsOf } from './ribbons.ts';
import type { GraphAnswer, GraphEdge } from './wire.ts';

/**
 * The graph around one wallet: who paid it on the left, whom it paid on the right. Every edge of that graph has the wallet at one
 * end, so a wallet that did both stands on both sides. Pure.
 */

export interface Neighbour {
  readonly wallet: string;
  readonly name: string | null;
  readonly usd: number;
  readonly count: number;
  readonly slot: Slot;
  /** The piece of the wallet's own slot that its ribbon ends in. */
  readonly end: Slot;
}

export interface WalletGraph {
  readonly payers: readonly Neighbour[];
  readonly payees: readonly Neighbour[];
  /** Edges that the picture leaves out; the table has them all. */
  readonly hiddenPayers: number;
  readonly hiddenPayees: number;
  readonly center: Slot;
  readonly height: number;
}

/** Ribbons on each side: more would be hairs. */
export const NEIGHBOURS_MAX = 10;
const ROW = { height: 40, gap: 6 };
const CENTER_SHARE = 0.5;
const CENTER_LEAST = 64;

export function walletGraphOf(wallet: string, { nodes, edges }: GraphAnswer): WalletGraph {
  const names = new Map(nodes.map((node) => [node.wallet, node.name]));
  const incoming = edges.filter((edge) => edge.payee === wallet && edge.payer !== wallet);
  const outgoing = edges.filter((edge) => edge.payer === wallet && edge.payee !== wallet);
  const rows = Math.max(1, Math.min(NEIGHBOURS_MAX, Math.max(incoming.length, outgoing.length)));
  const height = rows * (ROW.height + ROW.gap) - ROW.gap;
  const centerHeight = Math.min(height, Math.max(CENTER_LEAST, height * CENTER_SHARE));
  const center = { top: (height - centerHeight) / 2, height: centerHeight };
  const side = (list: readonly GraphEdge[], otherOf: (edge: GraphEdge) => string): Neighbour[] =>
    neighboursOf(list, { center, height, otherOf, names });
  return {
    payers: side(incoming, (edge) => edge.payer),
    payees: side(outgoing, (edge) => edge.payee),
    hiddenPayers: Math.max(0, incoming.length - NEIGHBOURS_MAX),
    hiddenPayees: Math.max(0, outgoing.length - NEIGHBOURS_MAX),
    center,
    height,
  };
}

interface Side {
  readonly center: Slot;
  readonly height: number;
  readonly otherOf: (edge: GraphEdge) => string;
  readonly names: ReadonlyMap<string, string | null>;
}

function neighboursOf(edges: readonly GraphEdge[], { center, height, otherOf, names }: Side): Neighbour[] {
  const shown = edges.slice(0, NEIGHBOURS_MAX);
  const micros = shown.map((edge) => Number(microsOf(edge.usd)));
  const used = shown.length * (ROW.height + ROW.gap) - ROW.gap;
  const slots = slotsOf(micros, { height: used, gap: ROW.gap, least: ROW.height });
  const shift = (height - columnHeight(slots)) / 2;
  const ends = piecesOf(center, micros);
  return shown.map((edge, at) => {
    const slot = slots[at] ?? { top: 0, height: 0 };
    const thickness = Math.min(ROW.height, Math.max(2, ends[at]?.height ?? 0));
    return {
      wallet: otherOf(edge),
      name: names.get(otherOf(edge)) ?? null,
      usd: edge.usd,
      count: edge.count,
      slot: { top: shift + slot.top + (ROW.height - thickness) / 2, height: thickness },
      end: ends[at] ?? center,
    };
  });
}
