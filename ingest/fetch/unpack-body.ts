import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { BodyTooLarge, boundedChunks, readBounded } from '../../core/bounded-body.ts';
import { FetchFailed } from './fetch-failed.ts';

/** What is asked for. No brotli: its decoder takes up to 16 MB before the first byte comes out. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate';

/**
 * Reads a body that may be packed, up to `maxBytes`: both of what is sent, so that nothing arrives for ever that unpacks to
 * nothing, and of what it unpacks to. Stops reading at the first byte too many. Throws `FetchFailed`, or what the stream throws.
 */
export async function readBody(body: Readable, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return read(body, maxBytes);
  // More than one layer is a bomb's shape, and nobody's need.
  const unpacker = unpackerOf(encoding);
  if (unpacker === null) throw new FetchFailed('broken_encoding');
  // The callback is not needed: a failure of either end is thrown by the loop that reads the other.
  const unpacked = pipeline(boundedChunks<Buffer>(body, maxBytes), unpacker, () => undefined);
  return read(unpacked, maxBytes);
}

async function read(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  try {
    return await readBounded(chunks, maxBytes);
  } catch (error) {
    if (error instanceof BodyTooLarge) throw new FetchFailed('too_large');
    throw isZlibError(error) ? new FetchFailed('broken_encoding', error) : error;
  }
}

function unpackerOf(encoding: string): (NodeJS.ReadWriteStream & Readable) | null {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  return encoding === 'deflate' ? createInflate() : null;
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}
