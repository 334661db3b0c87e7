import { byteLength, NEWLINE, type RowTally } from './whole-rows.ts';

/**
 * Rows of a format that writes one line each, whose number the engine has told and which are not too many: the chunks are
 * passed on as they came, and only the cap of bytes is watched. Not a line is looked for but the first of each chunk.
 */
export interface CountedRows {
  /** Rows in the whole text. */
  readonly rows: number;
  readonly bytesMax: number;
}

/**
 * Passes on what `wholeRows` would. `tally` is up to date once the rows have ended. Where the cap cuts, the rest is read to
 * its end and counted: that tells how many rows were passed on. The first row comes in one chunk, because its names are checked.
 */
export async function* countedRows(
  body: AsyncIterable<Buffer>,
  { rows, bytesMax }: CountedRows,
  tally: RowTally,
): AsyncGenerator<Buffer, void, undefined> {
  // Not passed on yet: a row begins in it, and whether that ends before the cap is seen in what follows.
  let held: Buffer[] = [];
  let hasFirst = false;
  let rowsLeft = 0;
  for await (const chunk of body) {
    if (tally.truncated) {
      rowsLeft += countLines(chunk);
      continue;
    }
    const firstEnd = chunk.indexOf(NEWLINE) + 1;
    if (tally.bytes + byteLength(held) + toRowEnd(chunk, firstEnd) > bytesMax) {
      const { fitting, rest } = cut([...held, chunk], bytesMax - tally.bytes);
      rowsLeft += countLines(rest);
      tally.truncated = true;
      tally.bytes += fitting.length;
      held = [];
      if (fitting.length > 0) yield fitting;
    } else if (firstEnd > 0 && hasFirst) {
      tally.bytes += byteLength(held);
      yield* held;
      held = [chunk];
    } else if (firstEnd > 0) {
      hasFirst = true;
      held = [joined([...held, chunk])];
    } else held.push(chunk);
  }
  const { fitting, rest } = cut(held, bytesMax - tally.bytes);
  if (rest.length === 0 && fitting.length > 0 && fitting.at(-1) !== NEWLINE)
    throw new Error('the engine ended a result in the middle of a row');
  tally.truncated ||= rest.length > 0;
  tally.bytes += fitting.length;
  tally.rows = rows - rowsLeft - countLines(rest);
  if (fitting.length > 0) yield fitting;
}

/** Bytes of the chunk that belong to the row which began before it. */
function toRowEnd(chunk: Buffer, firstEnd: number): number {
  return firstEnd === 0 ? chunk.length : firstEnd;
}

/** At the end of the last row that fits. */
function cut(parts: readonly Buffer[], room: number): { readonly fitting: Buffer; readonly rest: Buffer } {
  const text = joined(parts);
  const end = text.length <= room ? text.length : text.subarray(0, room).lastIndexOf(NEWLINE) + 1;
  return { fitting: text.subarray(0, end), rest: text.subarray(end) };
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

function countLines(text: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** The beginning of a stream, read before anybody asked for it. */
export interface ReadAhead {
  /** What was read so far. */
  readonly begun: readonly Buffer[];
  /** Whether that was all. */
  readonly isWhole: boolean;
  /** Everything, from the beginning; once. */
  all(): AsyncGenerator<Buffer, void, undefined>;
}

/** Reads until the stream ends or `maxBytes` are there. */
export async function readAhead(
  chunks: AsyncGenerator<Buffer, void, undefined>,
  maxBytes: number,
): Promise<ReadAhead> {
  const begun: Buffer[] = [];
  let bytes = 0;
  let isWhole = false;
  while (!isWhole && bytes < maxBytes) {
    const next = await chunks.next();
    if (next.done === true) isWhole = true;
    else {
      begun.push(next.value);
      bytes += next.value.length;
    }
  }
  return {
    begun,
    isWhole,
    async *all() {
      yield* begun;
      if (!isWhole) yield* chunks;
    },
  };
}
