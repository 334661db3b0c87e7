import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS, type ErrorCode, Failure, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { PROBLEM_TYPE, type Problem, problemOf } from '../openapi/problem.ts';
import { allowedAt, installKnownPaths } from './known-paths.ts';

export interface FailureOptions {
  readonly log: Log;
  readonly publicUrl: string;
  /** Where a client without a token learns who issues them; null where none are accepted. */
  readonly tokenMetadataUrl: string | null;
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

/** Slows down clients that send the same unpaid request in a loop. Source: read-api.md 8. */
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

/** Every error that reaches HTTP becomes a `Failure`; what is not one is a bug, and its text stays inside. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const status = statusOf(error);
  const known = status === undefined ? undefined : FRAMEWORK_FAILURES[status];
  if (known !== undefined) return fail(known.code, { detail: known.detail, cause: error });
  return fail('internal_error', {
    detail: 'The service failed to answer this request. The fault is on our side and was logged.',
    cause: error,
  });
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

/** Logs a failure and sets status and headers; the body that tells of it is the surface's to write. */
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
  // Node 20 accepts one connection in a turn of its loop: who is refused makes room for those that wait to be connected at all.
  if (code === 'overloaded') reply.header('connection', 'close');
  if (context.offer !== undefined) reply.header('payment-required', context.offer.requiredHeader);
  const challenge = challengeOf(code, options.tokenMetadataUrl);
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  const path = request.url.split('?', 1)[0] ?? '/';
  return problemOf(code, context, {
    path: printablePath(path),
    requestId: request.id,
    publicUrl: options.publicUrl,
  });
}

/** `instance` is a URI reference: characters that no URI has are left out. */
function printablePath(path: string): string {
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

export function installFailures(app: FastifyInstance, options: FailureOptions): void {
  app.setErrorHandler((error, request, reply) => sendFailure(request, reply, asFailure(error), options));
  installKnownPaths(app);
  app.setNotFoundHandler((request, reply) =>
    sendFailure(request, reply, notFound(app, request, reply), options),
  );
}

/** A method that this server has never heard of finds no route; the path may be there all the same. */
function notFound(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): Failure {
  const allow = allowedAt(app, request.url.split('?', 1)[0] ?? '/');
  if (allow === undefined || allow.split(', ').includes(request.method))
    return fail('not_found', { detail: 'There is no such route. /openapi.json lists them.' });
  reply.header('allow', allow);
  return fail('method_not_allowed', { detail: `This route does not take ${request.method}.` });
}
