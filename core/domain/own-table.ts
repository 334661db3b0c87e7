import { PLAN_IDS, type PlanId } from './plan.ts';

/** Tables of an organization's own, which its SQL reads as `my.<name>`: how they are named, what they may hold, and how many there are. */

/** Stands before the name of an own table in SQL. */
export const OWN_DATABASE = 'my';

/** Of one table: rows, columns, and bytes, as it is sent and as it is kept. */
export const OWN_TABLE_ROWS_MAX = 100_000;
export const OWN_TABLE_COLUMNS_MAX = 100;
export const OWN_TABLE_BYTES_MAX = 10_000_000;
/** Of one text in a table. The sandbox bounds the time of functions by the longest value that they can meet. */
export const OWN_TEXT_MAX_BYTES = 4_096;
/** Characters of a column's name. */
export const OWN_COLUMN_MAX_CHARS = 64;

/** What the tables of an organization may have together, by plan; bytes as they are kept. */
export const OWN_TABLE_QUOTAS: Readonly<Record<PlanId, { readonly tables: number; readonly bytes: number }>> =
  {
    free: { tables: 2, bytes: OWN_TABLE_BYTES_MAX },
    pro: { tables: 5, bytes: 25_000_000 },
    enterprise: { tables: 10, bytes: 50_000_000 },
  };

/** The quotas in words, for documentation. */
export const OWN_TABLE_QUOTA_TEXT = PLAN_IDS.map((plan) => {
  const { tables, bytes } = OWN_TABLE_QUOTAS[plan];
  return `${plan} ${tables} tables and ${bytes / 1e6} MB`;
}).join(', ');

export const OWN_TABLE_NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** Forms in which a table is sent. */
export const UPLOAD_FORMATS = ['csv', 'ndjson', 'parquet'] as const;
export type UploadFormat = (typeof UPLOAD_FORMATS)[number];

export interface OwnColumn {
  readonly name: string;
  /** The engine's type, one of those that `isOwnType` knows. */
  readonly type: string;
}

/** A table as it is kept, without its rows. */
export interface OwnTableFacts {
  readonly columns: readonly OwnColumn[];
  readonly rows: number;
  /** The longest text in it, in bytes. */
  readonly textBytes: number;
}

const PLAIN_TYPE =
  /^(?:U?Int(?:8|16|32|64|128|256)|Float(?:32|64)|String|Bool|UUID|Date|Date32|DateTime|DateTime64\(\d\)|Decimal\(\d{1,2}, ?\d{1,2}\))$/;

/** The types of own columns, in words. */
export const OWN_TYPES_TEXT =
  'String, Bool, Int8 to Int256, UInt8 to UInt256, Float32, Float64, Decimal(P, S), UUID, Date, Date32, DateTime and DateTime64(0 to 9), each also as Nullable(…)';

export function isOwnType(type: string): boolean {
  return PLAIN_TYPE.test(plainType(type));
}

/** Without the Nullable around it. */
export function plainType(type: string): string {
  return type.startsWith('Nullable(') && type.endsWith(')') ? type.slice('Nullable('.length, -1) : type;
}

/** The name under which the engine gets the table with a statement. The id is random, so no two tables ever have the same. */
export function attachedName({ name, id }: { readonly name: string; readonly id: string }): string {
  return `${OWN_DATABASE}_${name}_${id}`;
}

const ATTACHED = /\bmy_([a-z][a-z0-9_]{0,39})_[0-9a-f]{32}\b/g;

/** A text of the sandbox with own tables as their organization writes them. */
export function withOwnNames(text: string): string {
  return text.replace(ATTACHED, `${OWN_DATABASE}.$1`);
}
