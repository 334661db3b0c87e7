import type { Address, Hash, TransactionId } from '../../core/domain/account.ts';
import { microsFromDecimal } from '../../core/domain/amount.ts';
import { type Chain, isChain } from '../../core/domain/chains.ts';
import { ACCOUNT_TYPE, expressions, HASH_TYPE, TRANSACTION_TYPE } from '../engine/account.ts';
import type { RowBinary } from '../engine/row-binary.ts';
import {
  addressField,
  bigintField,
  hashField,
  integerField,
  numberField,
  textField,
  transactionField,
} from '../engine/row-reader.ts';

/** The types of columns as this program uses them. A type of the engine may stand for several types of value. */
export interface ColumnType<Value> {
  /** As `system.columns` names it; a test compares it with the schema. */
  readonly type: string;
  /** What follows the type where the column is declared: a default, a codec. */
  readonly ddl?: string;
  /** Throws `RangeError` for a value that the column cannot hold. */
  write(out: RowBinary, value: Value): unknown;
  /** The expression of a SELECT whose field `read` takes: 64-bit integers, decimals and bytes travel as texts. */
  select(column: string): string;
  read(field: unknown): Value;
}

const asItIs = (column: string): string => column;
const asText = (column: string): string => `toString(${column})`;
const asUnixTime = (column: string): string => `toUnixTimestamp(${column})`;

/** The same column under another name than its own in camel case: one with its unit, for example. */
export function named<Property extends string, Value>(
  property: Property,
  column: ColumnType<Value>,
): ColumnType<Value> & { readonly property: Property } {
  return { ...column, property };
}

/** The same column with what the engine is told about keeping it. */
export function stored<Column extends object>(
  column: Column,
  ddl: string,
): Column & { readonly ddl: string } {
  return { ...column, ddl };
}

export const ZSTD = 'CODEC(ZSTD(1))';
/** For long texts. */
export const ZSTD_3 = 'CODEC(ZSTD(3))';
/** For what hardly changes from row to row: heights, times, versions. */
export const RISING = 'CODEC(Delta, ZSTD(1))';
/** For small numbers in a wide type. */
export const NARROW = 'CODEC(T64, ZSTD(1))';
/** For digests, which do not compress. Their lengths do, which the engine keeps in a stream of their own, eight bytes each (26.7.2.1). */
export const RANDOM = 'CODEC(LZ4)';

export const text: ColumnType<string> = {
  type: 'String',
  write: (out, value) => out.string(value),
  select: asItIs,
  read: textField,
};

/** A text that has few different values. */
export const name: ColumnType<string> = { ...text, type: 'LowCardinality(String)' };

/** A name out of a closed list that this program keeps; `read` trusts the table, which this program alone writes. */
export function nameOf<Name extends string>(): ColumnType<Name> {
  return { ...name, read: (field) => textField(field) as Name };
}

export const chain: ColumnType<Chain> = {
  ...name,
  read(field) {
    const value = textField(field);
    if (!isChain(value)) throw new TypeError(`not a chain: ${value}`);
    return value;
  },
};

/** A text that is absent where it is empty. */
export const chainOrNull: ColumnType<Chain | null> = {
  ...name,
  write: (out, value) => out.string(value ?? ''),
  read: (field) => (field === '' ? null : chain.read(field)),
};

export const account: ColumnType<Address> = {
  type: ACCOUNT_TYPE,
  write: (out, value) => out.account(value),
  select: expressions.accountText,
  read: addressField,
};

export const transactionId: ColumnType<TransactionId> = {
  type: TRANSACTION_TYPE,
  write: (out, value) => out.transactionId(value),
  select: expressions.transactionText,
  read: transactionField,
};

/** A hash of something else than a transaction. */
export const hash: ColumnType<Hash> = {
  type: HASH_TYPE,
  write: (out, value) => out.hash(value),
  select: expressions.hashText,
  read: hashField,
};

/** Any number of bytes, as hex. */
export const bytes: ColumnType<Hash> = {
  type: 'String',
  write: (out, value) => out.hexString(value),
  select: expressions.hashText,
  read: hash.read,
};

/** An account of an EVM chain, or none: `0x`. */
export const accountOrNone: ColumnType<Address> = {
  ...bytes,
  write: (out, value) => out.hexString(value),
  read: addressField,
};

export const uint8: ColumnType<number> = {
  type: 'UInt8',
  write: (out, value) => out.u8(value),
  select: asItIs,
  read: integerField,
};

export const flag: ColumnType<boolean> = {
  type: 'UInt8',
  write: (out, value) => out.u8(value ? 1 : 0),
  select: asItIs,
  read: (field) => integerField(field) === 1,
};

export const uint16: ColumnType<number> = {
  ...uint8,
  type: 'UInt16',
  write: (out, value) => out.u16(value),
};

export const uint32: ColumnType<number> = {
  ...uint8,
  type: 'UInt32',
  write: (out, value) => out.u32(value),
};

/** A number that stays below 2^53. */
export const uint64: ColumnType<number> = {
  ...uint8,
  type: 'UInt64',
  write: (out, value) => out.u64(value),
};

export const bigUint64: ColumnType<bigint> = {
  type: 'UInt64',
  write: (out, value) => out.u64(value),
  select: asText,
  read: bigintField,
};

/** A digest, as 32 hex digits. */
export const digest128: ColumnType<string> = {
  type: 'UInt128',
  write: (out, hex) => out.u64(BigInt(`0x${hex.slice(16)}`)).u64(BigInt(`0x${hex.slice(0, 16)}`)), // the low half first
  select: (column) => `leftPad(lower(hex(${column})), 32, '0')`,
  read: textField,
};

export const uint256: ColumnType<bigint> = {
  type: 'UInt256',
  write: (out, value) => out.u256(value),
  select: asText,
  read: bigintField,
};

export const int128: ColumnType<bigint> = {
  type: 'Int128',
  write: (out, value) => out.i128(value),
  select: asText,
  read: bigintField,
};

export const float64: ColumnType<number> = {
  type: 'Float64',
  write: (out, value) => out.float64(value),
  select: asItIs,
  read: numberField,
};

/** Dollars, in millionths. */
export const usd64: ColumnType<bigint> = {
  type: 'Decimal(18, 6)',
  write: (out, value) => out.decimal64(value),
  select: asText,
  read: (field) => microsFromDecimal(textField(field)),
};

/** Dollars, in millionths. */
export const usd128: ColumnType<bigint> = {
  ...usd64,
  type: 'Decimal(38, 6)',
  write: (out, value) => out.i128(value),
};

/** Unix seconds. */
export const time: ColumnType<number> = {
  type: "DateTime('UTC')",
  write: (out, value) => out.dateTime(value),
  select: asUnixTime,
  read: integerField,
};

/** Unix milliseconds. */
export const timeMs: ColumnType<number> = {
  type: "DateTime64(3, 'UTC')",
  write: (out, value) => out.dateTime64(value),
  select: (column) => `toUnixTimestamp64Milli(${column})`,
  read: integerField,
};

/** `YYYY-MM-DD`. */
export const day: ColumnType<string> = {
  type: 'Date',
  write: (out, value) => out.date(value),
  select: asText,
  read: textField,
};

/** The earliest of all days that are written to a key. */
export const earliestDay: ColumnType<string> = { ...day, type: 'SimpleAggregateFunction(min, Date)' };

export const texts: ColumnType<readonly string[]> = {
  type: 'Array(String)',
  write: (out, value) => out.strings(value),
  select: asItIs,
  read(field) {
    if (!Array.isArray(field)) throw new TypeError(`expected a list from the engine, got ${typeof field}`);
    return field.map(textField);
  },
};

export const names: ColumnType<readonly string[]> = { ...texts, type: 'Array(LowCardinality(String))' };

/** Names with their codes. Codes are never reused; a further one is a migration that alters the column. */
export function enumeration<Name extends string>(codes: Readonly<Record<Name, number>>): ColumnType<Name> {
  const entries = Object.entries<number>(codes).sort(([, a], [, b]) => a - b);
  const known: ReadonlySet<string> = new Set(Object.keys(codes));
  return {
    type: `Enum8(${entries.map(([value, code]) => `'${value}' = ${code}`).join(', ')})`,
    write: (out, value) => out.u8(codes[value]),
    select: asText,
    read(field) {
      const value = textField(field);
      if (!known.has(value)) throw new TypeError(`not one of ${Object.keys(codes).join(', ')}: ${value}`);
      return value as Name; // just checked
    },
  };
}

/** A value behind a byte that says whether there is none. */
export function nullable<Value>(column: ColumnType<Value>): ColumnType<Value | null> {
  return {
    type: `Nullable(${column.type})`,
    write: (out, value) => (value === null ? out.u8(1) : column.write(out.u8(0), value)),
    select: column.select,
    read: (field) => (field === null ? null : column.read(field)),
  };
}

/** `1` marks a tombstone: what stood under this key is gone. */
export type Del = 0 | 1;

/** What every table has at its end whose rows replace and remove one another: the version of the write, and whether it removes. */
export const VERSIONED_TAIL = {
  ver: bigUint64,
  del: {
    ...uint8,
    read: (field) => (integerField(field) === 1 ? 1 : 0),
  } satisfies ColumnType<Del> as ColumnType<Del>,
} as const;
