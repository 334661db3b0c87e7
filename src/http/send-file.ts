import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../core/errors.ts';
import type { FileAnswer } from '../operations/answer.ts';
import { matchesEtag } from './headers.ts';

/** Files as they lie in a store: streamed, in whole or one range of bytes (RFC 9110 14), or not at all where the caller has them. */

interface ByteRange {
  readonly start: number;
  /** The last byte, included. */
  readonly end: number;
}

/** `mayBeRefused`: nothing was charged for the body, so 304 and 416 may take its place. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, mayBeRefused }: { readonly file: FileAnswer; readonly mayBeRefused: boolean },
): FastifyReply {
  const { mediaType, bytes, etag, takesRanges, headers = {} } = file;
  reply.headers({
    ...headers,
    etag,
    'cache-control': 'private, no-cache',
    'accept-ranges': takesRanges ? 'bytes' : 'none',
  });
  if (mayBeRefused && matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  const range = takesRanges ? rangeOf(request, file) : 'whole';
  if (range === 'outside' && mayBeRefused) {
    reply.header('content-range', `bytes */${bytes}`);
    throw fail('range_not_satisfiable', { detail: `The file has ${bytes} bytes.` });
  }
  reply.header('content-type', mediaType);
  if (typeof range === 'string') return sendBody(request, reply, { file, length: bytes });
  reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${bytes}`);
  return sendBody(request, reply, { file, length: range.end - range.start + 1, range });
}

function sendBody(
  { method }: FastifyRequest,
  reply: FastifyReply,
  { file, length, range }: { readonly file: FileAnswer; readonly length: number; readonly range?: ByteRange },
): FastifyReply {
  // A compressor takes the place of the length.
  if (file.takesRanges) reply.header('content-length', length);
  if (file.content !== undefined && range === undefined && method !== 'HEAD') return reply.send(file.content);
  // HEAD: Fastify would read a body to its end to leave it out.
  return reply.send(method === 'HEAD' || length === 0 ? Readable.from([]) : file.stream(range));
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** `whole` also for a range that is not understood: a server may leave a range out of account. Several ranges are answered with the whole. */
function rangeOf({ headers }: FastifyRequest, { bytes, etag }: FileAnswer): ByteRange | 'whole' | 'outside' {
  const [, first, last] = ONE_RANGE.exec(headers.range ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  const ifRange = headers['if-range'];
  // A file that changed between two requests must not be put together from two.
  if (ifRange !== undefined && ifRange !== etag) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'outside' : { start: bytes - length, end: bytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= bytes ? 'outside' : { start, end };
}
