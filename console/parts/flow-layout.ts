import { microsOf } from '../format.ts';
import type { Settlement } from '../wire.ts';
import { piecesOf } from './picture-layout.ts';

/**
 * The newest settlements as three columns: payers, facilitators and payees. All heights are to one scale: a bar that is twice as high is
 * twice the money, in every column. Where a bar is lower than its label, the gaps around it make room. Pure.
 */

interface Slot {
  readonly top: number;
  readonly height: number;
}

export interface FlowNode {
  /** An address, the id of a facilitator, `UNNAMED`, or '' for the sum of all nodes that are not shown. */
  readonly id: string;
  readonly label: string | null;
  readonly usdMicros: bigint;
  readonly count: number;
  /** To scale. */
  readonly slot: Slot;
}

export interface FlowLink {
  readonly key: string;
  readonly from: Slot;
  readonly to: Slot;
  /** The facilitator, which gives the ribbon its colour. */
  readonly facilitator: string;
}

interface FlowPicture {
  readonly payers: readonly FlowNode[];
  readonly facilitators: readonly FlowNode[];
  readonly payees: readonly FlowNode[];
  readonly inflows: readonly FlowLink[];
  readonly outflows: readonly FlowLink[];
  readonly height: number;
}

/** The id of the node of all settlements whose relayer belongs to no named facilitator. */
export const UNNAMED = 'none';

/** Nodes that are shown in each column; all others are added up in one more node. */
const NODES_MAX = 6;
const FACILITATORS_MAX = 6;
/** Pixels. */
const MONEY_HEIGHT = 260;
const GAP = 6;
const LABEL_HEIGHT = 36;

interface Group {
  readonly id: string;
  label: string | null;
  usdMicros: bigint;
  count: number;
}

export function flowPictureOf(rows: readonly Settlement[]): FlowPicture {
  const groups = {
    payers: topGroups(rows, NODES_MAX, (row) => [row.payer, row.payer_name ?? null]),
    facilitators: topGroups(rows, FACILITATORS_MAX, (row) => [
      facilitatorOf(row),
      row.facilitator_name ?? row.facilitator ?? 'Not named',
    ]),
    payees: topGroups(rows, NODES_MAX, (row) => [row.payee, row.payee_name ?? null]),
  };
  const total = groups.facilitators.reduce((sum, { usdMicros }) => sum + Number(usdMicros), 0);
  const perMicro = total === 0 ? 0 : MONEY_HEIGHT / total;
  const height = Math.max(...Object.values(groups).map((column) => columnHeight(column, perMicro)));
  const place = (column: readonly Group[]): FlowNode[] => placed(column, { height, perMicro });
  const [payers, facilitators, payees] = [
    place(groups.payers),
    place(groups.facilitators),
    place(groups.payees),
  ];
  return {
    payers,
    facilitators,
    payees,
    inflows: linksOf(payers, facilitators, rows, {
      endsOf: (row) => [indexOf(payers, row.payer), indexOf(facilitators, facilitatorOf(row))],
      facilitatorIs: 'to',
    }),
    outflows: linksOf(facilitators, payees, rows, {
      endsOf: (row) => [indexOf(facilitators, facilitatorOf(row)), indexOf(payees, row.payee)],
      facilitatorIs: 'from',
    }),
    height,
  };
}

function facilitatorOf(row: Settlement): string {
  return row.facilitator ?? UNNAMED;
}

/** The largest groups by dollars, and one group with the id '' for all others. */
function topGroups(
  rows: readonly Settlement[],
  most: number,
  keyOf: (row: Settlement) => readonly [id: string, label: string | null],
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

interface Scale {
  readonly height: number;
  /** Pixels for a millionth of a dollar. */
  readonly perMicro: number;
}

/** What a group takes up: its bar, or its label where that is higher. */
function roomOf({ usdMicros }: Group, perMicro: number): number {
  return Math.max(Number(usdMicros) * perMicro, LABEL_HEIGHT);
}

function columnHeight(groups: readonly Group[], perMicro: number): number {
  const rooms = groups.map((group) => roomOf(group, perMicro));
  return rooms.reduce((sum, room) => sum + room, 0) + GAP * Math.max(0, groups.length - 1);
}

/** Bars one below the other, each in the middle of its room, the column in the middle of the height. */
function placed(groups: readonly Group[], { height, perMicro }: Scale): FlowNode[] {
  let top = (height - columnHeight(groups, perMicro)) / 2;
  return groups.map((group) => {
    const room = roomOf(group, perMicro);
    const bar = Number(group.usdMicros) * perMicro;
    const slot = { top: top + (room - bar) / 2, height: bar };
    top += room + GAP;
    return { ...group, slot };
  });
}

/** Position of a group's node; for a group that is not shown, that of the sum of all others. */
function indexOf(nodes: readonly FlowNode[], id: string): number {
  const at = nodes.findIndex((node) => node.id === id);
  return at === -1 ? nodes.length - 1 : at;
}

interface Sides {
  readonly facilitatorIs: 'from' | 'to';
  endsOf(row: Settlement): readonly [from: number, to: number];
}

/** Ribbons between two columns: the bar of a node is divided among its ribbons, in the order of the other column. */
function linksOf(
  left: readonly FlowNode[],
  right: readonly FlowNode[],
  rows: readonly Settlement[],
  { facilitatorIs, endsOf }: Sides,
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
      const facilitator = (facilitatorIs === 'from' ? left[from] : right[to])?.id ?? '';
      return [{ key: `${from}-${to}`, from: start, to: end, facilitator }];
    }),
  );
}
