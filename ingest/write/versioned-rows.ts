import { RowBinary } from '../../clickhouse/engine/row-binary.ts';

/** `1` marks a tombstone: the row at this key vanished with a reorg. */
export type Del = 0 | 1;

/** Writes the columns of one row up to the last two, which are `ver` and `del` in every table of events. */
export type RowWriter<Row> = (out: RowBinary, row: Row) => void;

/**
 * Rows encoded while their version is open: an attempt to write them takes a fresh one. A tenth of the rows they were made from,
 * and in one piece outside the heap: what waits to be written is nothing that a garbage collector has to move.
 */
export interface VersionedRows {
  readonly count: number;
  /** The bytes with this version in every row; the same memory each time, so one attempt must have ended before the next. */
  at(ver: bigint): Uint8Array;
}

/** Throws `RangeError` for a value that its column cannot hold. */
export function encodeVersioned<Row>(rows: readonly Row[], write: RowWriter<Row>, del: Del): VersionedRows {
  const out = new RowBinary();
  const versionsAt = new Uint32Array(rows.length);
  for (const [index, row] of rows.entries()) {
    write(out, row);
    versionsAt[index] = out.size();
    out.u64(0).u8(del);
  }
  const bytes = Buffer.from(out.finish()); // as large as it is, not as the writer has grown
  return {
    count: rows.length,
    at(ver) {
      for (const at of versionsAt) bytes.writeBigUInt64LE(ver, at);
      return bytes;
    },
  };
}
