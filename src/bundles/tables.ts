import { PUBLIC_TABLES, type PublicColumn } from '../../core/domain/public-tables.ts';

/**
 * The public tables that are bundled: those whose rows belong to a UTC day for good. `agents`, `wallets` and the catalogues say how
 * things are now, and `wallet_settlements` is `settlements` twice (docs/bundles.sql makes it).
 */

interface BundleTableFacts {
  /** The column that tells the day of a row. */
  readonly day: 'block_time' | 'day';
  /** The columns that make a row unique within its day, which is also the order of the rows. */
  readonly key: readonly string[];
  /** Named first where rows differ: what a reader looks a row up by. */
  readonly namedBy: readonly string[];
}

const EVENTS = {
  day: 'block_time',
  key: ['block_number', 'log_index'],
  namedBy: ['tx_hash', 'log_index'],
} as const;

const BUNDLE_TABLES = {
  settlements: EVENTS,
  merchant_days: { day: 'day', key: ['payee'], namedBy: ['payee'] },
  payer_days: { day: 'day', key: ['payer'], namedBy: ['payer'] },
  pair_days: { day: 'day', key: ['payer', 'payee'], namedBy: ['payer', 'payee'] },
  facilitator_days: { day: 'day', key: ['facilitator'], namedBy: ['facilitator'] },
  attestations: EVENTS,
} as const satisfies Partial<Record<keyof typeof PUBLIC_TABLES, BundleTableFacts>>;

export type BundleTable = keyof typeof BUNDLE_TABLES;

export const BUNDLE_TABLE_NAMES = Object.keys(BUNDLE_TABLES) as readonly BundleTable[]; // a constant without other keys

export function isBundleTable(text: string): text is BundleTable {
  return Object.hasOwn(BUNDLE_TABLES, text);
}

export function bundleTable(table: BundleTable): BundleTableFacts {
  return BUNDLE_TABLES[table];
}

/** The columns of a bundle. Ids of wallets are left out: they are keyed hashes of one deployment, and a bundle is checked against any. */
export function bundleColumns(table: BundleTable): readonly PublicColumn[] {
  const columns: readonly PublicColumn[] = PUBLIC_TABLES[table].columns;
  return columns.filter(({ idOf }) => idOf === undefined);
}

/** How a value is written in the text of a row (rows.ts), by the engine's type of the column. */
export type ValueKind =
  | 'integer'
  | 'small_integer'
  | 'decimal'
  | 'float'
  | 'bool'
  | 'time'
  | 'date'
  | 'text'
  | 'texts';

const KINDS: readonly (readonly [RegExp, ValueKind])[] = [
  [/^U?Int(64|128|256)$/, 'integer'],
  [/^U?Int(8|16|32)$/, 'small_integer'],
  [/^Decimal/, 'decimal'],
  [/^Float/, 'float'],
  [/^Bool$/, 'bool'],
  [/^DateTime/, 'time'],
  [/^Date$/, 'date'],
  [/^String$/, 'text'],
  [/^Array\(String\)$/, 'texts'],
];

export function valueKind(type: string): ValueKind {
  let bare = type;
  for (;;) {
    const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(bare)?.[1];
    if (inner === undefined) break;
    bare = inner;
  }
  const kind = KINDS.find(([pattern]) => pattern.test(bare))?.[1];
  if (kind === undefined) throw new Error(`a bundle cannot hold a column of type ${type}`);
  return kind;
}

const DAY_MS = 86_400_000;

/** The UTC day of a time in milliseconds; '' for none. */
export function dayOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : '';
}

export function dayAfter(day: string): string {
  return dayOf(Date.parse(day) + DAY_MS);
}

/** The integers that identify rather than count: as text, because no reader adds them up and any number may occur. */
const TEXT_IDS: ReadonlySet<string> = new Set(['agent_id']);

/** The rows of some days in a row, both ends included. */
export interface DaysOf {
  readonly table: BundleTable;
  readonly chain: string;
  readonly since: string;
  readonly until: string;
}

/**
 * The rows of days in the order of their files, as ClickHouse SQL over the public tables; the API of any deployment takes it too.
 * `after` are the values of `rowKey` of a row: only what comes behind it.
 */
export function daysSelect(
  { table, chain, since, until }: DaysOf,
  {
    columns,
    after,
    limit,
  }: { readonly columns: readonly string[]; readonly after?: readonly string[]; readonly limit?: number },
): string {
  const order = rowKey(table).map((name) => orderText(table, name));
  const shown = columns.map((name) => (TEXT_IDS.has(name) ? `toString(${name}) AS ${name}` : name));
  const during =
    bundleTable(table).day === 'day'
      ? [`day >= toDate('${since}')`, `day <= toDate('${until}')`]
      : [`block_time >= ${midnight(since)}`, `block_time < ${midnight(dayAfter(until))}`];
  const conditions = [`chain = '${chain}'`, ...during];
  if (after !== undefined) conditions.push(`(${order.join(', ')}) > (${literals(table, after).join(', ')})`);
  return `SELECT ${shown.join(', ')} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY ${order.join(', ')}${limit === undefined ? '' : ` LIMIT ${limit}`}`;
}

/** The columns that order the rows of all days: heights of blocks grow with their time, all else is ordered by day first. */
export function rowKey(table: BundleTable): readonly string[] {
  const { day, key } = bundleTable(table);
  return day === 'day' ? [day, ...key] : key;
}

function midnight(day: string): string {
  return `toDateTime('${day} 00:00:00', 'UTC')`;
}

/** Without NULL, so that the order has one meaning everywhere. */
function orderText(table: BundleTable, name: string): string {
  return /Nullable/.test(typeOf(table, name)) ? `ifNull(${name}, '')` : name;
}

function typeOf(table: BundleTable, name: string): string {
  return bundleColumns(table).find((column) => column.name === name)?.type ?? '';
}

function literals(table: BundleTable, values: readonly string[]): string[] {
  return rowKey(table).map((name, at) => {
    const value = values[at] ?? '';
    const kind = valueKind(typeOf(table, name));
    if (kind === 'integer' || kind === 'small_integer') return value.replace(/\D/g, '');
    const text = `'${value.replace(/[\\']/g, '\\$&')}'`;
    return kind === 'date' ? `toDate(${text})` : text;
  });
}

/** As the file has them: an id is a text there. */
export function fileType({ name, type }: { readonly name: string; readonly type: string }): string {
  return TEXT_IDS.has(name) ? 'String' : type;
}
