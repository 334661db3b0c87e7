/** The body of an HTTP answer exceeds its size limit. The message never quotes the body. */
export class BodyTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`the body is longer than ${bytesMax} bytes`);
    this.name = 'BodyTooLarge';
  }
}

/** The chunks up to `bytesMax`. Throws `BodyTooLarge` at the first byte above it, which closes the stream and its connection. */
export async function* boundedChunks<Chunk extends Uint8Array>(
  chunks: AsyncIterable<Chunk>,
  bytesMax: number,
): AsyncGenerator<Chunk> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new BodyTooLarge(bytesMax);
    yield chunk;
  }
}

/** Reads a body to its end: `readBounded(response.body, 65_536)`. A `Response` without a body is empty. */
export async function readBounded(body: AsyncIterable<Uint8Array> | null, bytesMax: number): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  for await (const chunk of boundedChunks(body, bytesMax)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
