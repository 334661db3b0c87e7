/** Passes on whole rows of a text format until a limit is reached. */

export interface RowLimits {
  /** Header lines before the first row: names, types. They count as bytes, not as rows. */
  readonly headLines: number;
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** Counts of what has been passed on; exact once the rows have ended. */
export interface RowTally {
  rows: number;
  bytes: number;
  /** At least one row was not passed on. */
  truncated: boolean;
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

/**
 * Passes on whole lines in their original chunks, and stops before the first row beyond a limit. `tally` is current after every chunk.
 * Applies back-pressure: a chunk is read once the previous one has been consumed.
 */
export async function* wholeRows(
  body: AsyncIterable<Buffer>,
  findEnds: FindLineEnds,
  limits: RowLimits,
  tally: RowTally,
): AsyncGenerator<Buffer, void, undefined> {
  const take = rowTaker(findEnds, limits, tally);
  let begun: Buffer[] = [];
  for await (const chunk of body) {
    const taken = take(chunk, byteLength(begun));
    if (taken > 0) {
      const whole = Buffer.concat([...begun, chunk.subarray(0, taken)]);
      tally.bytes += whole.length;
      begun = [];
      yield whole;
    }
    begun.push(chunk.subarray(taken));
    // A single row can exceed the size limit of an answer.
    tally.truncated ||= tally.bytes + byteLength(begun) > limits.bytesMax;
    if (tally.truncated) return;
  }
  if (byteLength(begun) > 0) throw new Error('the engine ended a result in the middle of a row');
}

/** Counts the lines of consecutive chunks, and returns how many bytes of a chunk may be passed on. */
function rowTaker(
  findEnds: FindLineEnds,
  { headLines, rowsMax, bytesMax }: RowLimits,
  tally: RowTally,
): (chunk: Buffer, begunBytes: number) => number {
  const ends: number[] = [];
  let headsLeft = headLines;
  return (chunk, begunBytes) => {
    const found = findEnds(chunk, ends);
    let taken = 0;
    for (let index = 0; index < found; index++) {
      const end = ends[index] ?? 0;
      const isRow = headsLeft === 0;
      const fits = tally.bytes + begunBytes + end <= bytesMax && !(isRow && tally.rows >= rowsMax);
      if (!fits) {
        tally.truncated = true;
        break;
      }
      if (isRow) tally.rows += 1;
      else headsLeft -= 1;
      taken = end;
    }
    return taken;
  };
}

export function byteLength(parts: readonly Buffer[]): number {
  return parts.reduce((bytes, part) => bytes + part.length, 0);
}
