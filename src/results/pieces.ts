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
  const places: {
    readonly from: number;
    readonly to: number;
    readonly firstRow: number;
    readonly endRow: number;
  }[] = [];
  for (const { rows: rowsHere, bytes } of pieces) {
    const { to: from = 0, endRow: firstRow = 0 } = places.at(-1) ?? {};
    places.push({ from, to: from + bytes, firstRow, endRow: firstRow + rowsHere });
  }
  const behind = places.filter(({ endRow }) => endRow > offset);
  // Behind the last row a page has none: any piece tells its columns.
  const first = behind[0] ?? places.at(-1);
  if (first === undefined) throw new Error('a result without pieces is read whole');
  const last = behind.findLast(({ firstRow }) => firstRow < offset + rows) ?? first;
  return { part: { from: first.from, to: last.to }, offset: offset - first.firstRow };
}
