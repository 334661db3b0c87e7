/**
 * Every error this program answers with, once. Status, title and retry advice are projected into answers, OpenAPI,
 * docs/reference/errors.md and the tests. Source: read-api.md 7, api.md 1.
 */

interface ErrorEntry {
  readonly status: number;
  readonly title: string;
  /** What a caller should do, in one sentence. */
  readonly advice: string;
  /** Whether the identical request may succeed later. */
  readonly retryable: boolean;
}

export const ERRORS = {
  invalid_parameter: {
    status: 400,
    title: 'A parameter is not valid',
    advice: 'Correct the parameter named in `parameter`; the request was not run.',
    retryable: false,
  },
  malformed_request: {
    status: 400,
    title: 'The request cannot be read',
    advice: 'Correct the URL, the headers or the body as `detail` says.',
    retryable: false,
  },
  invalid_api_key: {
    status: 401,
    title: 'The key is not known, revoked or expired',
    advice: 'Send a valid key as `Authorization: Bearer` or `X-API-Key`, or none where the route is open.',
    retryable: false,
  },
  not_found: {
    status: 404,
    title: 'There is no such route',
    advice: 'See /openapi.json for the routes of this service.',
    retryable: false,
  },
  method_not_allowed: {
    status: 405,
    title: 'The route does not take this method',
    advice: 'Use a method listed in the `Allow` header.',
    retryable: false,
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    advice: 'Send the whole request at once.',
    retryable: true,
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large',
    advice: 'Send a smaller body.',
    retryable: false,
  },
  uri_too_long: {
    status: 414,
    title: 'The URL is too long',
    advice: 'Send fewer or shorter parameters.',
    retryable: false,
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type of the body is not supported',
    advice: 'Send no body, or the media type that the operation documents.',
    retryable: false,
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests this minute',
    advice: 'Wait for the seconds in `Retry-After`, then send the same request.',
    retryable: true,
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    advice: 'Send fewer or smaller headers.',
    retryable: false,
  },
  internal_error: {
    status: 500,
    title: 'The service failed',
    advice: 'Retry once; if it persists, report `request_id` to the operator.',
    retryable: true,
  },
  upstream_unavailable: {
    status: 503,
    title: 'The index cannot be read right now',
    advice:
      'Retry after the seconds in `Retry-After`. The resource named in `resource` refused or did not answer.',
    retryable: true,
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

export interface FailureContext {
  /** One or two sentences for the caller. Never physical names, paths, hosts, keys or authorizations. */
  readonly detail: string;
  /** The parameter at fault (400). */
  readonly parameter?: string;
  /** What could not be reached (503), a public name such as `settlements`. */
  readonly resource?: string;
  /** Seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** What really happened, for the log only. */
  readonly cause?: unknown;
}

/** An error with a code of the catalogue. Branch on `code`, never on the message. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly context: FailureContext;

  constructor(code: ErrorCode, context: FailureContext) {
    super(context.detail, { cause: context.cause });
    this.name = 'Failure';
    this.code = code;
    this.context = context;
  }
}

/** Makes the error to throw: `throw fail('invalid_parameter', { detail, parameter })`. */
export function fail(code: ErrorCode, context: FailureContext): Failure {
  return new Failure(code, context);
}
