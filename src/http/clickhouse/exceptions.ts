import { ERRORS, type ErrorCode, type Failure, type FailureContext, fail } from '../../../core/errors.ts';
import { type RefusalCode, Refused } from '../../../sandbox/judge/refusal.ts';
import type { QueryFailure } from '../../../sandbox/sandbox.ts';
import { UNKNOWN_FORMAT } from '../../operations/sql/clickhouse.ts';

/**
 * Our refusals as a ClickHouse server words them: `Code: 62. DB::Exception: … (SYNTAX_ERROR)`. Clients read the code from the header or the
 * text and show the rest. The words between are our own.
 */

/** Codes and names as in ClickHouse's ErrorCodes.cpp. */
const EXCEPTIONS = {
  BAD_ARGUMENTS: 36,
  ILLEGAL_TYPE_OF_ARGUMENT: 43,
  UNKNOWN_FUNCTION: 46,
  UNKNOWN_IDENTIFIER: 47,
  NOT_IMPLEMENTED: 48,
  UNKNOWN_TYPE: 50,
  UNKNOWN_TABLE: 60,
  SYNTAX_ERROR: 62,
  UNKNOWN_FORMAT: 73,
  UNKNOWN_DATABASE: 81,
  UNKNOWN_SETTING: 115,
  TOO_MANY_ROWS: 158,
  TIMEOUT_EXCEEDED: 159,
  READONLY: 164,
  TOO_BIG_AST: 168,
  MULTIPLE_EXPRESSIONS_FOR_ALIAS: 179,
  REQUIRED_PASSWORD: 194,
  QUOTA_EXCEEDED: 201,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  NETWORK_ERROR: 210,
  NOT_AN_AGGREGATE: 215,
  MEMORY_LIMIT_EXCEEDED: 241,
  QUERY_WAS_CANCELLED: 394,
  TOO_MANY_ROWS_OR_BYTES: 396,
  SETTING_CONSTRAINT_VIOLATION: 452,
  UNKNOWN_QUERY_PARAMETER: 456,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
  UNKNOWN_EXCEPTION: 1002,
} as const;
export type ExceptionName = keyof typeof EXCEPTIONS;

/** What the judge refuses, by its rule. */
const OF_RULE: Readonly<Record<RefusalCode, ExceptionName>> = {
  empty: 'SYNTAX_ERROR',
  too_long: 'SYNTAX_ERROR',
  nul_byte: 'SYNTAX_ERROR',
  syntax: 'SYNTAX_ERROR',
  not_select: 'SYNTAX_ERROR',
  forbidden_clause: 'NOT_IMPLEMENTED',
  settings: 'READONLY',
  identifier: 'SYNTAX_ERROR',
  parameter: 'UNKNOWN_QUERY_PARAMETER',
  unknown_table: 'UNKNOWN_TABLE',
  unknown_column: 'UNKNOWN_IDENTIFIER',
  table_function: 'ACCESS_DENIED',
  function: 'UNKNOWN_FUNCTION',
  virtual_column: 'UNKNOWN_IDENTIFIER',
  type: 'UNKNOWN_TYPE',
  too_complex: 'TOO_BIG_AST',
  unexplained: 'NOT_IMPLEMENTED',
};

/** What the engine finds in planning, and why a run fails. */
const OF_REASON: Readonly<Record<QueryFailure, ExceptionName>> = {
  timeout: 'TIMEOUT_EXCEEDED',
  cancelled: 'QUERY_WAS_CANCELLED',
  memory: 'MEMORY_LIMIT_EXCEEDED',
  disk: 'TOO_MANY_ROWS_OR_BYTES',
  rows_read: 'TOO_MANY_ROWS',
  result_size: 'TOO_MANY_ROWS_OR_BYTES',
  too_complex: 'TOO_BIG_AST',
  unknown_column: 'UNKNOWN_IDENTIFIER',
  unknown_table: 'UNKNOWN_TABLE',
  unknown_function: 'UNKNOWN_FUNCTION',
  not_grouped: 'NOT_AN_AGGREGATE',
  type_error: 'ILLEGAL_TYPE_OF_ARGUMENT',
  value_error: 'BAD_ARGUMENTS',
  duplicate_columns: 'MULTIPLE_EXPRESSIONS_FOR_ALIAS',
  unsupported: 'NOT_IMPLEMENTED',
  other: 'BAD_ARGUMENTS',
};

/** All other failures. Those that cannot happen here, because nothing is paid for over x402, are errors of the service. */
const OF_CODE: Readonly<Record<ErrorCode, ExceptionName>> = {
  invalid_parameter: 'BAD_ARGUMENTS',
  malformed_request: 'BAD_ARGUMENTS',
  invalid_query: 'SYNTAX_ERROR',
  query_failed: 'BAD_ARGUMENTS',
  invalid_api_key: 'AUTHENTICATION_FAILED',
  api_key_required: 'REQUIRED_PASSWORD',
  key_restricted: 'ACCESS_DENIED',
  key_not_found: 'UNKNOWN_EXCEPTION',
  key_budget_exhausted: 'QUOTA_EXCEEDED',
  payment_required: 'QUOTA_EXCEEDED',
  insufficient_qu: 'QUOTA_EXCEEDED',
  forbidden_origin: 'ACCESS_DENIED',
  upgrade_required: 'ACCESS_DENIED',
  cursor_expired: 'BAD_ARGUMENTS',
  snapshot_gone: 'BAD_ARGUMENTS',
  not_found: 'NOT_IMPLEMENTED',
  transaction_not_found: 'UNKNOWN_EXCEPTION',
  channel_not_found: 'UNKNOWN_EXCEPTION',
  job_not_found: 'UNKNOWN_EXCEPTION',
  result_not_found: 'UNKNOWN_EXCEPTION',
  dashboard_not_found: 'UNKNOWN_EXCEPTION',
  query_not_found: 'UNKNOWN_EXCEPTION',
  handle_required: 'UNKNOWN_EXCEPTION',
  handle_taken: 'UNKNOWN_EXCEPTION',
  query_limit: 'UNKNOWN_EXCEPTION',
  table_not_found: 'UNKNOWN_EXCEPTION',
  table_limit: 'UNKNOWN_EXCEPTION',
  invalid_table: 'UNKNOWN_EXCEPTION',
  method_not_allowed: 'NOT_IMPLEMENTED',
  request_timeout: 'TIMEOUT_EXCEEDED',
  payload_too_large: 'BAD_ARGUMENTS',
  uri_too_long: 'BAD_ARGUMENTS',
  unsupported_media_type: 'NOT_IMPLEMENTED',
  range_not_satisfiable: 'BAD_ARGUMENTS',
  rate_limited: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  overloaded: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  headers_too_large: 'BAD_ARGUMENTS',
  upstream_unavailable: 'NETWORK_ERROR',
  internal_error: 'UNKNOWN_EXCEPTION',
  payment_malformed: 'UNKNOWN_EXCEPTION',
  payment_invalid: 'UNKNOWN_EXCEPTION',
  payment_failed: 'UNKNOWN_EXCEPTION',
  payment_in_progress: 'UNKNOWN_EXCEPTION',
  request_in_progress: 'UNKNOWN_EXCEPTION',
  reply_not_kept: 'UNKNOWN_EXCEPTION',
  idempotency_conflict: 'UNKNOWN_EXCEPTION',
  key_already_issued: 'UNKNOWN_EXCEPTION',
  key_issue_failed: 'UNKNOWN_EXCEPTION',
  settlement_unknown: 'UNKNOWN_EXCEPTION',
};

/** The cause of a failure that this interface finds itself. */
class OwnException extends Error {
  readonly exception: ExceptionName;

  constructor(exception: ExceptionName) {
    super(exception);
    this.name = 'OwnException';
    this.exception = exception;
  }
}

/** Makes the error to throw for what the interface refuses itself. */
export function exception(
  name: ExceptionName,
  detail: string,
  code: ErrorCode = 'invalid_parameter',
  context: Omit<FailureContext, 'detail'> = {},
): Failure {
  return fail(code, { ...context, detail, cause: new OwnException(name) });
}

export interface Exception {
  readonly code: number;
  readonly status: number;
  /** The body of the answer. */
  readonly text: string;
}

/** Statements that a read-only server refuses. */
export const WRITES =
  /^(INSERT|CREATE|ALTER|DROP|TRUNCATE|RENAME|EXCHANGE|DELETE|UPDATE|REPLACE|OPTIMIZE|ATTACH|DETACH|UNDROP|GRANT|REVOKE|SYSTEM|KILL|BACKUP|RESTORE|MOVE|BEGIN|COMMIT|ROLLBACK|EXECUTE)$/i;

export function exceptionOf(failure: Failure, user: string): Exception {
  const name = nameOf(failure);
  const { detail, query } = failure.context;
  const words =
    name === 'AUTHENTICATION_FAILED'
      ? `${user}: Authentication failed: password is incorrect, or there is no user with such name. The password is an API key of this service; any user name goes with it. ${detail}`
      : [detail, place(query?.position), query?.hint].filter(Boolean).join(' ');
  const code = EXCEPTIONS[name];
  const status = name === 'AUTHENTICATION_FAILED' ? FORBIDDEN : ERRORS[failure.code].status;
  return { code, status, text: `Code: ${code}. DB::Exception: ${words} (${name})\n` };
}

/** As a ClickHouse server answers a wrong password; 401 makes browsers ask for another one. */
const FORBIDDEN = 403;

function nameOf({ code, context: { cause, query } }: Failure): ExceptionName {
  if (cause instanceof OwnException) return cause.exception;
  if (cause instanceof Refused) {
    const { code: rule, near = '' } = cause.refusal;
    return rule === 'not_select' && WRITES.test(near) ? 'READONLY' : OF_RULE[rule];
  }
  if (query?.reason === UNKNOWN_FORMAT) return 'UNKNOWN_FORMAT';
  if (query?.reason !== undefined && Object.hasOwn(OF_REASON, query.reason))
    return OF_REASON[query.reason as QueryFailure]; // one of its keys, just checked
  return OF_CODE[code];
}

function place(position: { readonly line: number; readonly column: number } | undefined): string | undefined {
  return position === undefined ? undefined : `(line ${position.line}, col ${position.column})`;
}
