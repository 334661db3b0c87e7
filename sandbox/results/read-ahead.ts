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
