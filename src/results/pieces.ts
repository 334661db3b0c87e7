import { buffer } from 'node:stream/consumers';
import type { AttachedReader } from '../../clickhouse/engine/attached-reader.ts';
import type { ResultColumn } from '../../sandbox/results/column-type.ts';
import { type KeptForm, structureOf } from '../../sandbox/results/kept-form.ts';
import type { FilePart } from './result-files.ts';

/**
 * A large result is stored in pieces: some thousand rows each in the engine's Native form, one behind the other, so that a page is read
 * from the bytes of its pieces alone. Any run of pieces is a whole text of that form.
 */

/** The name under which the engine reads a kept result. */
export const TABLE = 'kept';

export interface Piece {
  readonly rows: number;
  readonly bytes: number;
}

/** Of a piece as its result is written, roughly; a result that is not larger is read whole. docs/scale.md states it. */
export const PIECE_BYTES = 4 * 1024 * 1024;

interface Written {
  readonly form: KeptForm;
  readonly columns: readonly ResultColumn[];
  /** All that are stored. */
  readonly rows: number;
  readonly bytes: Buffer;
}

/** The same rows in the same order, and where they lie; without pieces as it is. */
export async function inPieces(
  { form, columns, rows, bytes }: Written,
  reader: AttachedReader,
): Promise<{ readonly form: KeptForm; readonly bytes: Buffer; readonly pieces?: readonly Piece[] }> {
  const count = Math.min(rows, Math.ceil(bytes.length / PIECE_BYTES));
  if (count < 2) return { form, bytes };
  const rowsEach = Math.ceil(rows / count);
  const table = { name: TABLE, format: form, structure: structureOf(columns), bytes };
  const written: Buffer[] = [];
  const pieces: Piece[] = [];
  for (let offset = 0; offset < rows; offset += rowsEach) {
    const text = `SELECT * FROM ${TABLE} LIMIT ${rowsEach} OFFSET ${offset}`;
    const { body } = await reader.read({ name: 'kept-pieces', text, table, format: 'Native' });
    const piece = await buffer(body);
    written.push(piece);
    pieces.push({ rows: Math.min(rowsEach, rows - offset), bytes: piece.length });
  }
  return { form: 'Native', bytes: Buffer.concat(written), pieces };
}

/** The bytes that hold the rows of a page, and how many of their rows lie before it. */
export function partOf(
  pieces: readonly Piece[],
  { offset, rows }: { readonly offset: number; readonly rows: number },
): { readonly part: FilePart; readonly offset: number } {
  let [row, at] = [0, 0];
  let found: { from: number; to: number; firstRow: number } | null = null;
  for (const piece of pieces) {
    const [endRow, end] = [row + piece.rows, at + piece.bytes];
    if (endRow > offset && (found === null || row < offset + rows))
      found = { from: found?.from ?? at, to: end, firstRow: found?.firstRow ?? row };
    [row, at] = [endRow, end];
  }
  // Behind the last row a page has none: any piece tells its columns.
  const last = pieces.at(-1) ?? { rows: 0, bytes: 0 };
  const { from, to, firstRow } = found ?? { from: at - last.bytes, to: at, firstRow: row - last.rows };
  return { part: { from, to }, offset: offset - firstRow };
}
