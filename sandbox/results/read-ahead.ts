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
