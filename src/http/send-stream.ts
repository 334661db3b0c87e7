import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StreamedAnswer, Trailers } from '../operations/answer.ts';

/** Answers that leave as they are read. */

/**
 * Sends the body with back-pressure: nobody reads ahead of the caller. A body that fails ends the connection, so that what
 * arrived is never taken for the whole; a caller who leaves destroys the body.
 */
export function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  stream: StreamedAnswer,
): FastifyReply {
  const { mediaType, headers, body, trailers } = stream;
  reply.headers({ ...headers, 'content-type': mediaType, 'cache-control': 'no-store' });
  // Trailers need the chunks of HTTP/1.1.
  if (trailers !== null && request.raw.httpVersion !== '1.0') addTrailers(reply, trailers);
  // It may fail before anybody listens; who listens then is told all the same.
  body.on('error', () => undefined);
  return reply.send(body);
}

function addTrailers(reply: FastifyReply, trailers: Trailers): void {
  let values: ReturnType<Trailers['values']> | undefined;
  for (const name of trailers.names) {
    reply.trailer(name, async () => {
      values ??= trailers.values();
      return values[name] ?? '';
    });
  }
}
