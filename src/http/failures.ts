import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS, type ErrorCode, Failure, type FailureContext, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { asFailure, PROBLEM_TYPE, type Problem, problemOf } from '../openapi/problem.ts';
import { allowedAt, installKnownPaths } from './methods.ts';
import type { RefusalPace } from './pace-refusals.ts';

export interface FailureOptions {
  readonly log: Log;
  readonly publicUrl: string;
  /** Where a client without a token learns who issues them; null where none are accepted. */
  readonly tokenMetadataUrl: string | null;
  /** Absent: every refusal leaves at once. */
  readonly pace?: RefusalPace | undefined;
}

/** Statuses of the framework's own refusals, each with the code and the words that callers get instead of its text. */
const FRAMEWORK_FAILURES: Readonly<Record<number, { readonly code: ErrorCode; readonly detail: string }>> = {
  400: { code: 'malformed_request', detail: 'The URL or the body cannot be decoded.' },
  404: { code: 'not_found', detail: 'There is no such route.' },
  408: { code: 'request_timeout', detail: 'The request did not arrive in time.' },
  413: { code: 'payload_too_large', detail: 'The request body is larger than this route takes.' },
  414: { code: 'uri_too_long', detail: 'A part of the URL is longer than any valid one.' },
  415: { code: 'unsupported_media_type', detail: 'This route does not take a body of this media type.' },
};

/** Retry-After that slows down clients which send the same unpaid request in a loop. */
const LOOP_PAUSE_SECONDS = 5;

/** What a 401 must carry: no error is named where no credential was sent. Source: RFC 6750 3. */
const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  invalid_api_key: 'Bearer realm="settlement-index", error="invalid_token"',
  api_key_required: 'Bearer realm="settlement-index"',
};

/** Source: RFC 9728 5.1. */
function challengeOf(code: ErrorCode, metadataUrl: string | null): string | undefined {
  const challenge = CHALLENGES[code];
  return challenge === undefined || metadataUrl === null
    ? challenge
    : `${challenge}, resource_metadata="${metadataUrl}"`;
}

/** `asFailure`, where the error can also be one of the framework's own refusals. */
export function httpFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const status = statusOf(error);
  const known = status === undefined ? undefined : FRAMEWORK_FAILURES[status];
  return known === undefined ? asFailure(error) : fail(known.code, { detail: known.detail, cause: error });
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

export function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  options: FailureOptions,
): FastifyReply {
  const problem = refusal(request, reply, failure, options);
  // Sent as text: the route's own serialiser would print another shape.
  return reply.header('content-type', PROBLEM_TYPE).serializer(String).send(JSON.stringify(problem));
}

/** Logs a failure and sets status and headers; the body is the surface's to write. */
export function refusal(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  options: FailureOptions,
): Problem {
  const { code, context } = failure;
  const { status } = ERRORS[code];
  logFailure(request, failure, options.log);
  reply.code(status).header('cache-control', 'no-store').header('x-request-id', request.id);
  const retryAfterSeconds = context.retryAfterSeconds ?? (status === 402 ? LOOP_PAUSE_SECONDS : undefined);
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  if (context.offer !== undefined) reply.header('payment-required', context.offer.requiredHeader);
  const challenge = challengeOf(code, options.tokenMetadataUrl);
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  return problemOf(code, context, {
    path: pathOf(request),
    requestId: request.id,
    publicUrl: options.publicUrl,
  });
}

/** `instance` of the request's problems is a URI reference: characters that no URI has are left out. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  const path = url.split('?', 1)[0] ?? '/';
  return path.slice(0, 500).replace(/[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})/g, '');
}

function logFailure(request: FastifyRequest, failure: Failure, log: Log): void {
  const { status } = ERRORS[failure.code];
  if (status < 500) return;
  const { cause } = failure.context;
  const facts = { request_id: request.id, code: failure.code, resource: failure.context.resource };
  if (failure.code === 'internal_error') log.error({ ...facts, err: cause }, 'request failed');
  else
    log.warn({ ...facts, cause: cause instanceof Error ? cause.message : String(cause) }, 'request refused');
}

/** Refusals whose repetition before `Retry-After` is refused again. */
const PACED: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'overloaded']);

export function installFailures(app: FastifyInstance, options: FailureOptions): void {
  app.setErrorHandler((error, request, reply) => {
    const failure = httpFailure(error);
    const answer = (): void => void sendFailure(request, reply, failure, options);
    const retryAfterSeconds = PACED.has(failure.code) ? failure.context.retryAfterSeconds : undefined;
    if (options.pace === undefined || retryAfterSeconds === undefined) answer();
    else options.pace.whenDue(request, retryAfterSeconds, answer);
  });
  installKnownPaths(app);
  app.setNotFoundHandler((request, reply) =>
    sendFailure(request, reply, notFound(app, request, reply), options),
  );
}

/** A method for which no route is registered finds none, although the path may exist. */
function notFound(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): Failure {
  const allow = allowedAt(app, request.url.split('?', 1)[0] ?? '/');
  if (allow === undefined || allow.split(', ').includes(request.method))
    return fail('not_found', { detail: 'There is no such route. /openapi.json lists them.' });
  reply.header('allow', allow);
  return fail('method_not_allowed', { detail: `This route does not take ${request.method}.` });
}

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

/** Answers input that never became a request (broken HTTP, oversized headers, a body that does not arrive), and closes the connection. */
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
