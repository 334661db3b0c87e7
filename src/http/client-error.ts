import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { PROBLEM_TYPE, problemOf } from '../problem.ts';

const CODES: Readonly<Record<string, { readonly code: ErrorCode; readonly detail: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'The URL and headers together exceed 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'The request did not arrive in time.' },
};

/**
 * Answers what never became a request (broken HTTP, oversized headers) with a problem like every other error, written to the
 * socket because there is no reply object yet.
 */
export function answerClientError(
  error: Error & { readonly code?: string },
  socket: Socket,
  options: { readonly publicUrl: string; readonly newId: () => string },
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, detail } = CODES[error.code ?? ''] ?? {
    code: 'malformed_request' as const,
    detail: 'This is not an HTTP request.',
  };
  const { status } = ERRORS[code];
  const requestId = options.newId();
  const body = JSON.stringify(
    problemOf(code, { detail }, { path: '/', requestId, publicUrl: options.publicUrl }),
  );
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${PROBLEM_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
