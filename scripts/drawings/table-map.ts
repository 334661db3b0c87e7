import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES, type PublicTable } from '../../core/domain/public-tables.ts';
import { arrow, box, drawing, label, type Place, zone } from './svg.ts';

/**
 * The public tables by the subject of a row, and the columns that join them. Throws when a table has no place, or a named column is not in its
 * table, so that the drawing cannot differ from the declaration.
 */

type TableName = (typeof PUBLIC_TABLE_NAMES)[number];

interface Group {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  /** Each with the columns that join it, or say where to find its rows. */
  readonly tables: Readonly<Partial<Record<TableName, readonly string[]>>>;
}

const GROUPS: readonly Group[] = [
  {
    name: 'a row for each settlement',
    x: 20,
    y: 20,
    w: 220,
    tables: {
      settlements: ['payer', 'payee', 'relayer', 'asset'],
      wallet_settlements: ['wallet', 'counterparty'],
      transaction_fees: ['chain', 'tx_hash', 'relayer'],
    },
  },
  {
    name: 'sums of a UTC day',
    x: 20,
    y: 274,
    w: 220,
    tables: {
      merchant_days: ['day', 'payee'],
      payer_days: ['day', 'payer'],
      pair_days: ['day', 'payer', 'payee'],
      facilitator_days: ['day', 'facilitator'],
      coverage_days: ['chain', 'day'],
    },
  },
  {
    name: 'channels and escrows',
    x: 316,
    y: 410,
    w: 190,
    tables: {
      channels: ['channel', 'payer', 'payee'],
      channel_events: ['channel', 'tx_hash'],
    },
  },
  {
    name: 'wallets, by address',
    x: 316,
    y: 50,
    w: 190,
    tables: {
      wallets: ['address'],
      wallet_names: ['chain', 'address'],
      wallet_verdicts: ['wallet', 'role'],
      wallet_rings: ['wallet'],
    },
  },
  {
    name: 'who they are',
    x: 590,
    y: 20,
    w: 190,
    tables: {
      agents: ['chain', 'agent_id', 'wallet'],
      attestations: ['chain', 'agent_id'],
      endpoints: ['chain', 'pay_to'],
    },
  },
  {
    name: 'facilitators and tokens',
    x: 590,
    y: 290,
    w: 190,
    tables: {
      facilitators: ['chain', 'address'],
      relayers: ['chain', 'address'],
      proposed_relayers: ['chain', 'address'],
      tokens: ['chain', 'address'],
    },
  },
];

const HEAD = 30;
const BOX_HEIGHT = 56;
const GAP = 12;
const MARGIN = 12;
const HEIGHT = 664;

export function tableMap(): string {
  const placed = GROUPS.flatMap(({ tables }) => Object.keys(tables));
  const missing = PUBLIC_TABLE_NAMES.filter((name) => !placed.includes(name));
  if (missing.length > 0) throw new Error(`the table map has no place for ${missing.join(', ')}`);
  return drawing('tables', 'The public tables and the columns that join them', HEIGHT, [
    ...GROUPS.flatMap(drawGroup),
    ...joins(),
  ]);
}

function drawGroup({ name, x, y, w, tables }: Group): string[] {
  const entries = Object.entries(tables) as [TableName, readonly string[]][]; // as GROUPS is typed
  const boxes = entries.map(([table, columns], at) => {
    for (const column of columns) requireColumn(table, column);
    const place: Place = {
      x: x + MARGIN,
      y: y + HEAD + at * (BOX_HEIGHT + GAP),
      w: w - 2 * MARGIN,
      h: BOX_HEIGHT,
    };
    return box(place, table, [columns.join(', ')], table === 'settlements' ? 'strong' : 'box');
  });
  const h = HEAD + entries.length * (BOX_HEIGHT + GAP);
  return [zone({ x, y, w, h }, name), ...boxes];
}

function requireColumn(table: TableName, column: string): void {
  const { columns }: PublicTable = PUBLIC_TABLES[table];
  if (!columns.some(({ name }) => name === column)) throw new Error(`${table} has no column ${column}`);
}

/** Arrows between the groups. */
function joins(): string[] {
  return [
    arrow([
      [240, 180],
      [314, 180],
    ]),
    label(277, 158, 'payer,', { note: true, anchor: 'middle' }),
    label(277, 172, 'payee', { note: true, anchor: 'middle' }),
    arrow([
      [240, 320],
      [314, 320],
    ]),
    label(277, 298, 'payer,', { note: true, anchor: 'middle' }),
    label(277, 312, 'payee', { note: true, anchor: 'middle' }),
    arrow([
      [506, 150],
      [588, 150],
    ]),
    label(533, 128, 'wallet,', { note: true, anchor: 'middle' }),
    label(533, 142, 'pay_to', { note: true, anchor: 'middle' }),
    arrow([
      [240, 44],
      [566, 44],
      [566, 400],
      [588, 400],
    ]),
    label(316, 37, 'relayer, asset', { note: true }),
    arrow([
      [240, 530],
      [588, 530],
    ]),
    label(414, 522, 'facilitator', { note: true, anchor: 'middle' }),
  ];
}
