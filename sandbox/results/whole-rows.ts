/** Rows of a text format, passed on whole until a cap is reached. */

export interface RowLimits {
  /** Lines before the first row: names, types. They count as bytes, not as rows. */
  readonly headLines: number;
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** What has been passed on; true to the last row once the rows have ended. */
export interface RowTally {
  rows: number;
  bytes: number;
  /** There was a row that was not passed on. */
  truncated: boolean;
}

/** Finds where lines end in consecutive chunks: offsets after each end, in order, written into `into`; returns how many. */
export type FindLineEnds = (chunk: Uint8Array, into: number[]) => number;

export const NEWLINE = 0x0a;
const QUOTE = 0x22;

/** Formats that escape line breaks inside of values: JSON by lines. */
export function plainLineEnds(): FindLineEnds {
  return (chunk, into) => {
    let count = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1))
      into[count++] = at + 1;
    return count;
  };
}

/** CSV, whose quoted values hold line breaks as they are. A doubled quote closes and opens again, which is the same. */
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

/** CSV up to a line without anything, behind which the engine puts the totals of WITH TOTALS; a row is never empty. */
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
 * Passes whole lines on, in the chunks they came in, and stops before the first row that a limit forbids. `tally` is up to
 * date after every chunk. The consumer's pace is kept: a chunk is read when the one before was taken.
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
    // A single row can be larger than an answer may be.
    tally.truncated ||= tally.bytes + byteLength(begun) > limits.bytesMax;
    if (tally.truncated) return;
  }
  if (byteLength(begun) > 0) throw new Error('the engine ended a result in the middle of a row');
}

/** Counts the lines of consecutive chunks; answers up to which byte of a chunk they may be passed on. */
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
