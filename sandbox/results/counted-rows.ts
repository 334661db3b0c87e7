import { byteLength, NEWLINE, type RowTally } from './whole-rows.ts';

/**
 * For formats with one row per line, when the engine has reported a row count within the limit: chunks pass through unchanged and
 * only the byte limit is checked. Only the first line of each chunk is searched for.
 */
export interface CountedRows {
  /** Rows in the whole text. */
  readonly rows: number;
  readonly bytesMax: number;
}

/**
 * Yields the same as `wholeRows`. `tally` is final once the rows have ended. When the byte limit cuts, the rest is read to its end
 * and counted, which gives the number of rows passed on. The first row comes in one chunk, because its names are checked.
 */
export async function* countedRows(
  body: AsyncIterable<Buffer>,
  { rows, bytesMax }: CountedRows,
  tally: RowTally,
): AsyncGenerator<Buffer, void, undefined> {
  // Held back: a row begins in it, and the following chunks show whether it ends within the limit.
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

/** Bytes of the chunk that belong to a row from the previous chunk. */
function toRowEnd(chunk: Buffer, firstEnd: number): number {
  return firstEnd === 0 ? chunk.length : firstEnd;
}

/** Cuts after the last row that fits. */
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

/** The start of a stream, read ahead. */
export interface ReadAhead {
  /** The bytes read so far. */
  readonly begun: readonly Buffer[];
  /** Whether the stream has ended. */
  readonly isWhole: boolean;
  /** The whole stream from its start. Can be read once. */
  all(): AsyncGenerator<Buffer, void, undefined>;
}

/** Reads until the stream ends or `maxBytes` have arrived. */
export async function readAhead(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<ReadAhead> {
  const iterator = chunks[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  let bytes = 0;
  let isWhole = false;
  while (!isWhole && bytes < maxBytes) {
    const next = await iterator.next();
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
      if (!isWhole) yield* { [Symbol.asyncIterator]: () => iterator };
    },
  };
}
