import { microsOf } from './money.ts';
import { columnHeight, piecesOf, type Slot, slotsOf } from './ribbons.ts';
import type { NamedSettlement } from './wire.ts';

/** Newest settlements as a picture: who paid, through which facilitator, whom. Pure. */

export interface FlowNode {
  /** An address, a facilitator's id, or '' for what is not shown by itself. */
  readonly id: string;
  readonly label: string | null;
  readonly usdMicros: bigint;
  readonly count: number;
  readonly slot: Slot;
}

export interface FlowLink {
  readonly key: string;
  readonly from: Slot;
  readonly to: Slot;
  /** Position of the facilitator in its column: ribbons of one facilitator share a colour. */
  readonly series: number;
}

export interface FlowPicture {
  readonly payers: readonly FlowNode[];
  readonly facilitators: readonly FlowNode[];
  readonly payees: readonly FlowNode[];
  readonly inflows: readonly FlowLink[];
  readonly outflows: readonly FlowLink[];
  readonly height: number;
}

/** Nodes by name in each column; what comes after is one node more. */
const NODES_MAX = 6;
const FACILITATORS_MAX = 4;
const COLUMN = { height: 320, gap: 8, least: 34 };

interface Group {
  readonly id: string;
  label: string | null;
  usdMicros: bigint;
  count: number;
}

export function flowPictureOf(rows: readonly NamedSettlement[]): FlowPicture {
  const payers = topGroups(rows, NODES_MAX, (row) => [row.payer, row.payer_name ?? null]);
  const facilitators = topGroups(rows, FACILITATORS_MAX, (row) => [
    row.facilitator ?? 'none',
    row.facilitator_name ?? row.facilitator ?? 'No named facilitator',
  ]);
  const payees = topGroups(rows, NODES_MAX, (row) => [row.payee, row.payee_name ?? null]);
  const columns = [payers, facilitators, payees].map(placed);
  const [left = [], middle = [], right = []] = columns;
  const height = Math.max(...columns.map((nodes) => columnHeight(nodes.map(({ slot }) => slot))), 0);
  const centred = [left, middle, right].map((nodes) => centre(nodes, height));
  const [payerNodes = [], facilitatorNodes = [], payeeNodes = []] = centred;
  const of = (nodes: readonly FlowNode[], id: string) => indexOf(nodes, id);
  return {
    payers: payerNodes,
    facilitators: facilitatorNodes,
    payees: payeeNodes,
    inflows: linksOf(payerNodes, facilitatorNodes, 'to', rows, (row) => [
      of(payerNodes, row.payer),
      of(facilitatorNodes, row.facilitator ?? 'none'),
    ]),
    outflows: linksOf(facilitatorNodes, payeeNodes, 'from', rows, (row) => [
      of(facilitatorNodes, row.facilitator ?? 'none'),
      of(payeeNodes, row.payee),
    ]),
    height,
  };
}

/** The largest groups by dollars, and one with the id '' for all others. */
function topGroups(
  rows: readonly NamedSettlement[],
  most: number,
  keyOf: (row: NamedSettlement) => readonly [id: string, label: string | null],
): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const [id, label] = keyOf(row);
    const group = groups.get(id) ?? { id, label, usdMicros: 0n, count: 0 };
    group.usdMicros += microsOf(row.amount_usd);
    group.count += 1;
    group.label ??= label;
    groups.set(id, group);
  }
  const sorted = [...groups.values()].sort(largestFirst);
  if (sorted.length <= most + 1) return sorted;
  const rest = sorted.slice(most);
  const others: Group = {
    id: '',
    label: `${rest.length} others`,
    usdMicros: rest.reduce((sum, { usdMicros }) => sum + usdMicros, 0n),
    count: rest.reduce((sum, { count }) => sum + count, 0),
  };
  return [...sorted.slice(0, most), others];
}

function largestFirst(a: Group, b: Group): number {
  if (a.usdMicros !== b.usdMicros) return a.usdMicros > b.usdMicros ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

function placed(groups: readonly Group[]): FlowNode[] {
  const slots = slotsOf(
    groups.map(({ usdMicros }) => Number(usdMicros)),
    COLUMN,
  );
  return groups.map((group, at) => ({ ...group, slot: slots[at] ?? { top: 0, height: 0 } }));
}

function centre(nodes: readonly FlowNode[], height: number): FlowNode[] {
  const shift = (height - columnHeight(nodes.map(({ slot }) => slot))) / 2;
  return nodes.map((node) => ({ ...node, slot: { ...node.slot, top: node.slot.top + shift } }));
}

/** Position of a group's node; of whatever has none by itself, that of the others. */
function indexOf(nodes: readonly FlowNode[], id: string): number {
  const at = nodes.findIndex((node) => node.id === id);
  return at === -1 ? nodes.length - 1 : at;
}

/** Ribbons between two columns: each node's slot is cut among its ribbons, in the order of the other column. */
function linksOf(
  left: readonly FlowNode[],
  right: readonly FlowNode[],
  facilitatorSide: 'from' | 'to',
  rows: readonly NamedSettlement[],
  endsOf: (row: NamedSettlement) => readonly [from: number, to: number],
): FlowLink[] {
  const sums = left.map(() => right.map(() => 0));
  for (const row of rows) {
    const [from, to] = endsOf(row);
    const line = sums[from];
    if (line?.[to] !== undefined) line[to] += Number(microsOf(row.amount_usd));
  }
  const starts = left.map((node, from) => piecesOf(node.slot, sums[from] ?? []));
  const ends = right.map((node, to) =>
    piecesOf(
      node.slot,
      sums.map((line) => line[to] ?? 0),
    ),
  );
  return sums.flatMap((line, from) =>
    line.flatMap((sum, to): FlowLink[] => {
      const start = starts[from]?.[to];
      const end = ends[to]?.[from];
      if (sum === 0 || start === undefined || end === undefined) return [];
      const series = facilitatorSide === 'from' ? from : to;
      return [{ key: `${from}-${to}`, from: start, to: end, series }];
    }),
  );
}
