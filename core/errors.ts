import type { PaymentOffer, PaymentTrouble } from './domain/payment.ts';
import type { Resource } from './domain/resources.ts';
import type { TextEdit } from './text-edits.ts';

/**
 * The catalogue of all errors that the program answers with. Answers, OpenAPI, docs/reference/errors.md and the tests take status,
 * title and retry advice from it.
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
  invalid_query: {
    status: 400,
    title: 'The query is refused',
    advice: 'Correct the query as `detail` and `hint` say; it was not run and cost nothing.',
    retryable: false,
  },
  query_failed: {
    status: 400,
    title: 'The query ran and failed',
    advice:
      'See `reason`: narrow the query, give it more time (`max_qu`, `tier`), or correct it. The units used before it failed are charged; a query that failed before it read a row costs nothing.',
    retryable: false,
  },
  invalid_api_key: {
    status: 401,
    title: 'The key is unknown, revoked or expired',
    advice: 'Send a valid key as `Authorization: Bearer` or `X-API-Key`, or none where the route is open.',
    retryable: false,
  },
  api_key_required: {
    status: 401,
    title: 'The route needs a key',
    advice:
      'Send a key as `Authorization: Bearer` or `X-API-Key`. This deployment does not sell single calls over x402.',
    retryable: false,
  },
  payment_required: {
    status: 402,
    title: 'The call has a price',
    advice:
      'Send a key whose organization has enough units, or pay one of `accepts` and send the same request with `X-PAYMENT`.',
    retryable: false,
  },
  payment_malformed: {
    status: 402,
    title: 'The payment cannot be read',
    advice:
      'Send base64 of the x402 payment object, with an EIP-3009 authorization and its signature, or on Solana a signed transaction.',
    retryable: false,
  },
  payment_invalid: {
    status: 402,
    title: 'The payment was rejected',
    advice: 'Sign a new payment for one of `accepts`; the same one fails again. Nothing was charged.',
    retryable: false,
  },
  payment_failed: {
    status: 402,
    title: 'The payment was verified, but its settlement failed',
    advice: 'Nothing was charged. Send the same payment again, or sign a new one.',
    retryable: true,
  },
  insufficient_qu: {
    status: 402,
    title: 'The organization is out of Query Units',
    advice: 'Top up, lower `max_qu` (SQL), or pay for this call with one of `accepts`.',
    retryable: false,
  },
  forbidden_origin: {
    status: 403,
    title: 'The origin or host is not allowed',
    advice:
      'Call the MCP surface under the host name of the deployment, from a program or from a page of the deployment itself. Over the ClickHouse interface a page of another site sends a key in `X-ClickHouse-Key`.',
    retryable: false,
  },
  upgrade_required: {
    status: 403,
    title: 'The plan does not include this',
    advice: 'Ask for a plan that includes it; /v0/account lists what yours allows.',
    retryable: false,
  },
  key_restricted: {
    status: 403,
    title: 'The key may not do this',
    advice: 'Do what `detail` says the key may do, or send another key of the organization.',
    retryable: false,
  },
  key_not_found: {
    status: 404,
    title: 'The organization has no such key',
    advice: 'See GET /v0/account/keys for the ids of its keys.',
    retryable: false,
  },
  payment_in_progress: {
    status: 409,
    title: 'Another request is using this payment',
    advice: 'Wait for its answer. If there is none, send the same request again after `Retry-After`.',
    retryable: true,
  },
  request_in_progress: {
    status: 409,
    title: 'The same request is still running',
    advice: 'Wait for its answer, or send it again after `Retry-After`.',
    retryable: true,
  },
  reply_not_kept: {
    status: 409,
    title: 'The request was answered, and its answer was not kept',
    advice: 'It was charged once. Use a new Idempotency-Key to run it again.',
    retryable: false,
  },
  idempotency_conflict: {
    status: 409,
    title: 'The Idempotency-Key was used for another request',
    advice: 'Use a new Idempotency-Key for a new request.',
    retryable: false,
  },
  key_already_issued: {
    status: 409,
    title: 'That settlement already bought a key',
    advice: 'You were not charged again. Pay again to get another key.',
    retryable: false,
  },
  cursor_expired: {
    status: 410,
    title: 'The cursor is older than the changes kept',
    advice:
      'Read the list again from the start, without `after`, and continue from the `prev_after` of its first page.',
    retryable: false,
  },
  snapshot_gone: {
    status: 410,
    title: 'The snapshot is no longer available',
    advice:
      'Use a newer one: `meta.snapshot` of any answer about settlements. `detail` says why, and names the oldest revision still available.',
    retryable: false,
  },
  not_found: {
    status: 404,
    title: 'There is no such route',
    advice: 'See /openapi.json for the routes of this service.',
    retryable: false,
  },
  transaction_not_found: {
    status: 404,
    title: 'No settlement of this transaction is in the index',
    advice:
      'Check the hash. A new transaction appears once its block is indexed: compare `meta.indexed_block` of any list. A transaction without an x402 settlement never appears.',
    retryable: false,
  },
  channel_not_found: {
    status: 404,
    title: 'No event of this payment channel is in the index',
    advice:
      'Check the id: `channel` of a settlement, or /entities/{wallet}/channels. A channel appears once the block of its first deposit is indexed.',
    retryable: false,
  },
  job_not_found: {
    status: 404,
    title: 'There is no such job',
    advice:
      'List the jobs of your organization with /v0/sql/jobs. A job stays listed for a week after it ends.',
    retryable: false,
  },
  result_not_found: {
    status: 404,
    title: 'There is no such result',
    advice:
      'Send the key of the organization that ran the query, or a link that has not expired. Results are kept for a week; run the query again for a new one.',
    retryable: false,
  },
  dashboard_not_found: {
    status: 404,
    title: 'There is no such dashboard',
    advice:
      'Check owner, slug and panel: /v0/dashboards lists those that you may open. A private one takes a key of its owner, or the token of its frame.',
    retryable: false,
  },
  query_not_found: {
    status: 404,
    title: 'There is no such saved query',
    advice:
      'Check owner, slug and version: /v0/q lists the public queries, /v0/queries those of your organization. A private query needs a key of its owner.',
    retryable: false,
  },
  table_not_found: {
    status: 404,
    title: 'There is no such table of your organization',
    advice: 'GET /v0/tables lists them. Another organization’s tables cannot be named.',
    retryable: false,
  },
  table_limit: {
    status: 409,
    title: 'The limit of own tables is reached',
    advice: 'Delete a table that you no longer need, or send fewer rows or columns.',
    retryable: false,
  },
  invalid_table: {
    status: 400,
    title: 'The rows cannot be kept as a table',
    advice:
      'The detail says what is wrong. CSV begins with a line of names; `types` corrects a type. Nothing was charged.',
    retryable: false,
  },
  handle_required: {
    status: 409,
    title: 'The organization has no handle',
    advice: 'Choose one with PUT /v0/account/handle: it is the owner in the address of each saved query.',
    retryable: false,
  },
  handle_taken: {
    status: 409,
    title: 'The handle is not available',
    advice: 'Choose another handle. A handle cannot be changed once it is set.',
    retryable: false,
  },
  query_limit: {
    status: 409,
    title: 'The limit of saved queries or versions is reached',
    advice: 'Delete saved queries you no longer need, or save under another slug.',
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
  range_not_satisfiable: {
    status: 416,
    title: 'The file has no byte in the range',
    advice: 'You already have the whole file, or the file has changed: compare its size and ETag.',
    retryable: false,
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests this minute',
    advice: 'Wait the number of seconds in `Retry-After`, then send the same request.',
    retryable: true,
  },
  key_budget_exhausted: {
    status: 429,
    title: 'The key has used its daily budget',
    advice: 'Wait until the UTC day ends (`Retry-After`), lower `max_qu`, or raise the budget of the key.',
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
  key_issue_failed: {
    status: 500,
    title: 'The payment settled, but no key was issued',
    advice:
      'Send the same request with the same payment again: it is not charged twice. `transaction` proves it.',
    retryable: true,
  },
  settlement_unknown: {
    status: 502,
    title: 'Whether the payment settled is not known',
    advice:
      'Do not sign a new payment yet. Send the same request with the same payment after `Retry-After`: once the chain shows the settlement, the call is answered. To check yourself, look up the nonce of the authorization on the chain, on Solana the newest transactions of the payer.',
    retryable: true,
  },
  overloaded: {
    status: 503,
    title: 'The service is busy',
    advice:
      'Wait the number of seconds in `Retry-After`, then send the same request. Nothing was run or charged.',
    retryable: true,
  },
  upstream_unavailable: {
    status: 503,
    title: 'The index cannot be read right now',
    advice:
      'Wait the number of seconds in `Retry-After`, then retry. The resource named in `resource` refused or did not answer.',
    retryable: true,
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** The fault of a query, and its place in the caller's own text. */
export interface QueryTrouble {
  /** Set for `query_failed`, and for an `invalid_query` that the engine found while planning. A closed list. */
  readonly reason?: string;
  readonly position?: { readonly line: number; readonly column: number };
  readonly near?: string;
  readonly hint?: string;
  /** The replacement for `near`, if it is a single word; only part of `hint`, never a field of its own. */
  readonly meant?: string;
  /** Changes of the caller's text that do what `hint` proposes. */
  readonly edits?: TextEdit[];
  /** The query in ClickHouse's words, where it was written in another dialect. It was judged and not run. */
  readonly suggestedSql?: string;
}

export interface ChargeFacts {
  readonly heldQu: number;
  readonly chargedQu: number;
  readonly balance: number | null;
}

export interface FailureContext {
  /** One or two sentences for the caller. Never physical names, paths, hosts, keys or authorizations. */
  readonly detail: string;
  /** The parameter at fault (400). */
  readonly parameter?: string;
  /** What could not be reached (503). */
  readonly resource?: Resource;
  /** Seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** What became of the payment (402, 409, 5xx of the x402 lane). */
  readonly payment?: PaymentTrouble;
  /** How the call can be paid (402). */
  readonly offer?: PaymentOffer;
  /** The fault of a query (400). */
  readonly query?: QueryTrouble;
  /** Query Units that a run used although it failed; they are charged. */
  readonly usedQu?: number;
  /** What was charged for it. */
  readonly charged?: ChargeFacts;
  /** The underlying error, for the log only. */
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
