/**
 * Reads Thrift's compact protocol, which Parquet footers are written in, into plain values without a schema: a struct becomes a
 * map from field id to value. Source: the protocol's specification (thrift-compact-protocol.md of apache/thrift).
 *
 * Footers are files of strangers: depth and sizes are bounded by the bytes that are there, and anything else throws.
 */

export type ThriftValue = boolean | number | bigint | Buffer | readonly ThriftValue[] | ThriftStruct;

export type ThriftStruct = ReadonlyMap<number, ThriftValue>;

const TYPE = {
  true: 1,
  false: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

/** Parquet's own structures nest seven deep. */
const DEPTH_MAX = 32;
/** A list head holds the size in four bits; fifteen says that a varint follows. */
const LONG_LIST = 15;
const VARINT_BITS_MAX = 63;

interface Reading {
  readonly bytes: Buffer;
  at: number;
}

/** The struct that begins at the first byte. Throws a `RangeError` where the bytes are not one. */
export function readThriftStruct(bytes: Buffer): ThriftStruct {
  return readStruct({ bytes, at: 0 }, 0);
}

function readStruct(reading: Reading, depth: number): ThriftStruct {
  if (depth > DEPTH_MAX) throw new RangeError('nested too deep');
  const fields = new Map<number, ThriftValue>();
  for (let id = 0; ; ) {
    const head = byte(reading);
    if (head === 0) return fields;
    const delta = head >> 4;
    const type = head & 15;
    id = delta === 0 ? Number(zigzag(reading)) : id + delta;
    // Of a boolean field, the type is the value.
    if (type === TYPE.true || type === TYPE.false) fields.set(id, type === TYPE.true);
    else fields.set(id, readValue(reading, type, depth));
  }
}

function readValue(reading: Reading, type: number, depth: number): ThriftValue {
  switch (type) {
    case TYPE.true:
    case TYPE.false:
      return byte(reading) === TYPE.true;
    case TYPE.i8:
      return byte(reading);
    case TYPE.i16:
    case TYPE.i32:
      return Number(zigzag(reading));
    case TYPE.i64:
      return zigzag(reading);
    case TYPE.double:
      return take(reading, 8).readDoubleLE(0);
    case TYPE.binary:
      return take(reading, Number(varint(reading)));
    case TYPE.list:
    case TYPE.set:
      return readList(reading, depth);
    case TYPE.map:
      return readMap(reading, depth);
    case TYPE.struct:
      return readStruct(reading, depth + 1);
    default:
      throw new RangeError(`no such type: ${type}`);
  }
}

function readList(reading: Reading, depth: number): ThriftValue[] {
  if (depth > DEPTH_MAX) throw new RangeError('nested too deep');
  const head = byte(reading);
  const size = head >> 4 === LONG_LIST ? Number(varint(reading)) : head >> 4;
  const items: ThriftValue[] = [];
  // Every item takes a byte at least, so a claimed size beyond the bytes ends in an error and not in memory.
  for (let item = 0; item < size; item++) items.push(readValue(reading, head & 15, depth + 1));
  return items;
}

/** Keys and values in turn; no footer field that we look at is a map. */
function readMap(reading: Reading, depth: number): ThriftValue[] {
  const size = Number(varint(reading));
  if (size === 0) return [];
  const types = byte(reading);
  const items: ThriftValue[] = [];
  for (let entry = 0; entry < size; entry++) {
    items.push(readValue(reading, types >> 4, depth + 1));
    items.push(readValue(reading, types & 15, depth + 1));
  }
  return items;
}

function byte(reading: Reading): number {
  const value = reading.bytes[reading.at++];
  if (value === undefined) throw new RangeError('the bytes end too early');
  return value;
}

function take(reading: Reading, length: number): Buffer {
  const from = reading.at;
  if (from + length > reading.bytes.length) throw new RangeError('the bytes end too early');
  reading.at += length;
  return reading.bytes.subarray(from, from + length);
}

function varint(reading: Reading): bigint {
  let value = 0n;
  for (let shift = 0; shift <= VARINT_BITS_MAX; shift += 7) {
    const next = byte(reading);
    value |= BigInt(next & 127) << BigInt(shift);
    if (next < 128) return value;
  }
  throw new RangeError('a number is too long');
}

function zigzag(reading: Reading): bigint {
  const value = varint(reading);
  return (value >> 1n) ^ -(value & 1n);
}
