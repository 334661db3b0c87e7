/** Passes on whole rows of a text format, as many as its reader wants. */

export interface RowLimits {
  /** Header lines before the first row: names, types. */
  readonly headLines: number;
  readonly rowsMax: number;
}

/** Finds line ends in consecutive chunks: writes the offset after each into `into`, in order, and returns their number. */
export type FindLineEnds = (chunk: Uint8Array, into: number[]) => number;

export const NEWLINE = 0x0a;
const QUOTE = 0x22;

/** For formats that escape line breaks inside values: JSON lines. */
export function plainLineEnds(): FindLineEnds {
  return (chunk, into) => {
    let count = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1))
      into[count++] = at + 1;
    return count;
  };
}

/** For CSV, whose quoted values may contain raw line breaks. A doubled quote closes and reopens, which has the same effect. */
export function csvLineEnds(): FindLineEnds {
  let isQuoted = false;
  return (chunk, into) => {
    let count = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (byte === NEWLINE && !isQuoted) into[count++] = at + 1;
    }
    return count;
  };
}

/** CSV up to an empty line, after which the engine writes the totals of WITH TOTALS; a row is never empty. */
export async function* beforeTotals(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let isQuoted = false;
  let isLineBegun = false;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) isQuoted = !isQuoted;
      const endsLine = byte === NEWLINE && !isQuoted;
      if (endsLine && !isLineBegun) {
        yield chunk.subarray(0, at);
        return;
      }
      isLineBegun = !endsLine;
    }
    yield chunk;
  }
}

/** Applies back-pressure: a chunk is read once the previous one has been consumed. Whole lines; none of a row beyond the limit is read. */
export async function* wholeRows(
  body: AsyncIterable<Buffer>,
  findEnds: FindLineEnds,
  { headLines, rowsMax }: RowLimits,
): AsyncGenerator<Buffer, void, undefined> {
  const ends: number[] = [];
  let linesLeft = headLines + rowsMax;
  let begun: Buffer[] = [];
  for await (const chunk of body) {
    if (linesLeft === 0) return;
    const found = Math.min(findEnds(chunk, ends), linesLeft);
    linesLeft -= found;
    const taken = found === 0 ? 0 : (ends[found - 1] ?? 0);
    if (taken > 0) {
      yield Buffer.concat([...begun, chunk.subarray(0, taken)]);
      begun = [];
    }
    if (taken === chunk.length) continue;
    if (linesLeft === 0) return;
    begun.push(chunk.subarray(taken));
  }
  if (begun.length > 0) throw endedInRow();
}

/** All rows in the chunks in which they come; the first row in one chunk, because its names are checked. */
export async function* allRows(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let begun: Buffer[] | null = [];
  let last: number | undefined = NEWLINE;
  for await (const chunk of body) {
    last = chunk.at(-1) ?? last;
    if (begun === null) yield chunk;
    else {
      begun.push(chunk);
      if (!chunk.includes(NEWLINE)) continue;
      yield Buffer.concat(begun);
      begun = null;
    }
  }
  if (last !== NEWLINE) throw endedInRow();
}

function endedInRow(): Error {
  return new Error('the engine ended a result in the middle of a row');
}
