import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { FetchFailed } from './fetch-failed.ts';

/** What is asked for. No brotli: its decoder takes up to 16 MB before the first byte comes out. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate';

/**
 * Reads a body that may be packed, up to `maxBytes`: both of what is sent, so that nothing arrives for ever that unpacks to
 * nothing, and of what it unpacks to. Stops reading at the first byte too many. Throws `FetchFailed`, or what the stream throws.
 */
export async function readBody(body: Readable, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return join(body, maxBytes);
  // More than one layer is a bomb's shape, and nobody's need.
  const unpacker = unpackerOf(encoding);
  if (unpacker === null) throw new FetchFailed('broken_encoding');
  // The callback is not needed: a failure of either end is thrown by the loop that reads the other.
  const unpacked = pipeline(within(body, maxBytes), unpacker, () => undefined);
  return join(unpacked, maxBytes).catch((error: unknown) => {
    throw isZlibError(error) ? new FetchFailed('broken_encoding', error) : error;
  });
}

function unpackerOf(encoding: string): (NodeJS.ReadWriteStream & Readable) | null {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  return encoding === 'deflate' ? createInflate() : null;
}

async function join(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of within(chunks, maxBytes)) parts.push(chunk);
  return Buffer.concat(parts);
}

async function* within(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new FetchFailed('too_large'); // leaving the loop destroys the stream
    yield chunk;
  }
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}
