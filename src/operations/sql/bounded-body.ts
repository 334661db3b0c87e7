import { Readable } from 'node:stream';
import { fail } from '../../../core/errors.ts';

/**
 * The bytes of an answer as they are written, up to a bound. How many there will be is not known before, so a body above the bound
 * fails: over HTTP its connection breaks, and no client takes what arrived for the whole.
 */
export function bounded(body: Readable, bytesMax: number): Readable {
  const passed = Readable.from(counted(body, bytesMax), { objectMode: false });
  // A generator that was never begun ends nothing.
  return passed.once('close', () => body.destroy());
}

async function* counted(
  body: AsyncIterable<Buffer | string>,
  bytesMax: number,
): AsyncGenerator<Buffer | string, void, undefined> {
  let left = bytesMax;
  for await (const part of body) {
    left -= typeof part === 'string' ? Buffer.byteLength(part) : part.length;
    if (left < 0) throw tooManyBytes(bytesMax);
    yield part;
  }
}

const MEBIBYTE = 1024 * 1024;

function tooManyBytes(bytesMax: number): Error {
  return fail('query_failed', {
    detail: `The answer is larger than ${bytesMax / MEBIBYTE} MiB in this format.`,
    query: {
      reason: 'result_size',
      hint: 'Select fewer columns or rows, or ask for parquet, which is the smallest.',
    },
  });
}
