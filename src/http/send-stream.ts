import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StreamedAnswer } from '../operations/answer.ts';

/**
 * Sends the body with back-pressure: it is not read ahead of the caller. A body that fails ends the connection without the end of the
 * answer, so that no client takes what arrived for the whole; a caller who leaves destroys the body.
 */
export function sendStream(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { mediaType, headers, body }: StreamedAnswer,
): FastifyReply {
  reply.headers({ ...headers, 'content-type': mediaType, 'cache-control': 'no-store' });
  // It may fail before Fastify listens for its errors; Fastify then still sees that it was destroyed.
  body.on('error', () => {
    // The end of the connection is the end of an answer of HTTP/1.0, which proxies speak: only a reset tells that it is not whole.
    if (raw.httpVersion === '1.0') raw.socket.resetAndDestroy();
  });
  return reply.send(body);
}
