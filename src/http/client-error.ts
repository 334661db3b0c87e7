import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ERRORS, type ErrorCode, type FailureContext } from '../../core/errors.ts';
import { PROBLEM_TYPE, problemOf } from '../openapi/problem.ts';

const CODES: Readonly<Record<string, { readonly code: ErrorCode; readonly detail: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'The URL and headers together exceed 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    detail: 'The head and the body of the request did not arrive in time.',
  },
};

export interface SocketAnswerOptions {
  readonly publicUrl: string;
  newId(): string;
}

/** Answers what never became a request (broken HTTP, oversized headers, a body that does not arrive), and closes the connection. */
export function answerClientError(
  error: Error & { readonly code?: string },
  socket: Socket,
  options: SocketAnswerOptions,
): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, detail } = CODES[error.code ?? ''] ?? {
    code: 'malformed_request' as const,
    detail: 'This is not an HTTP request.',
  };
  closeWithProblem(socket, code, { detail }, options);
}

/** How long a peer that is not reading, or does not end its side, keeps the connection after the answer. */
const LINGER_MS = 1_000;

/** Writes a problem like every other error to the socket, because there is no reply object, and closes the connection. */
export function closeWithProblem(
  socket: Socket,
  code: ErrorCode,
  context: FailureContext,
  options: SocketAnswerOptions,
): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status } = ERRORS[code];
  const requestId = options.newId();
  const body = JSON.stringify(
    problemOf(code, context, { path: '/', requestId, publicUrl: options.publicUrl }),
  );
  const { retryAfterSeconds } = context;
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${PROBLEM_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
