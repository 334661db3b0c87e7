import { microsOf } from '../format.ts';
import type { Graph, GraphEdge } from '../wire.ts';

/** Geometry of money drawn as ribbons between columns: vertically in pixels, horizontally in percent of the ribbon's width. Pure. */

interface Slot {
  readonly top: number;
  readonly height: number;
}

interface SlotRule {
  readonly height: number;
  readonly gap: number;
  /** The smallest height of a slot, which has to fit its label. */
  readonly least: number;
}

/** Divides the height of a column among values, in their order. The column grows where `least` does not fit. */
export function slotsOf(values: readonly number[], { height, gap, least }: SlotRule): Slot[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const spare = Math.max(0, height - gap * (values.length - 1) - least * values.length);
  let top = 0;
  return values.map((value) => {
    const slot = { top, height: least + (total === 0 ? 0 : (value / total) * spare) };
    top += slot.height + gap;
    return slot;
  });
}

/** The bottom of the last slot. */
export function columnHeight(slots: readonly Slot[]): number {
  const last = slots.at(-1);
  return last === undefined ? 0 : last.top + last.height;
}

/** The outline of a ribbon from a slot at x = 0 to one at x = 100, as an SVG path. */
export function ribbonPath(from: Slot, to: Slot): string {
  const fromEnd = from.top + from.height;
  const toEnd = to.top + to.height;
  return [
    `M0 ${round(from.top)}`,
    `C50 ${round(from.top)} 50 ${round(to.top)} 100 ${round(to.top)}`,
    `L100 ${round(toEnd)}`,
    `C50 ${round(toEnd)} 50 ${round(fromEnd)} 0 ${round(fromEnd)}Z`,
  ].join('');
}

/** Divides a slot in proportion to `values`, from its top. */
export function piecesOf(slot: Slot, values: readonly number[]): Slot[] {
  return slotsOf(values, { height: slot.height, gap: 0, least: 0 }).map(({ top, height }) => ({
    top: slot.top + top,
    height,
  }));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * The graph around one wallet: payers on the left, payees on the right. Every edge of that graph has the wallet at one end, so a
 * counterparty in both roles stands on both sides.
 */

export interface Neighbour {
  readonly wallet: string;
  readonly name: string | null;
  readonly usd: number;
  readonly count: number;
  readonly slot: Slot;
  /** The part of the wallet's own slot where the ribbon ends. */
  readonly end: Slot;
}

export interface WalletGraph {
  readonly payers: readonly Neighbour[];
  readonly payees: readonly Neighbour[];
  /** Edges that the picture leaves out. The table has all of them. */
  readonly hiddenPayers: number;
  readonly hiddenPayees: number;
  readonly center: Slot;
  readonly height: number;
}

/** Ribbons on each side: more would be too thin to see. */
const NEIGHBOURS_MAX = 10;
const ROW = { height: 40, gap: 6 };
const CENTER_SHARE = 0.5;
const CENTER_LEAST = 64;

export function walletGraphOf(wallet: string, { nodes, edges }: Pick<Graph, 'nodes' | 'edges'>): WalletGraph {
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
