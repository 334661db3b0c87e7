import { expect, test } from 'vitest';
import { ERROR_CODES, ERRORS } from '../../core/errors.ts';

/** Callers branch on these: a change here is a change of the wire. */
test('codes and statuses', () => {
  expect(Object.fromEntries(ERROR_CODES.map((code) => [code, ERRORS[code].status]))).toEqual({
    invalid_parameter: 400,
    malformed_request: 400,
    invalid_query: 400,
    query_failed: 400,
    invalid_api_key: 401,
    api_key_required: 401,
    payment_required: 402,
    payment_malformed: 402,
    payment_invalid: 402,
    payment_failed: 402,
    insufficient_qu: 402,
    upgrade_required: 403,
    forbidden_origin: 403,
    key_restricted: 403,
    key_not_found: 404,
    key_budget_exhausted: 429,
    payment_in_progress: 409,
    request_in_progress: 409,
    reply_not_kept: 409,
    idempotency_conflict: 409,
    key_already_issued: 409,
    cursor_expired: 410,
    snapshot_gone: 410,
    not_found: 404,
    transaction_not_found: 404,
    job_not_found: 404,
    result_not_found: 404,
    query_not_found: 404,
    dashboard_not_found: 404,
    handle_required: 409,
    handle_taken: 409,
    query_limit: 409,
    method_not_allowed: 405,
    request_timeout: 408,
    payload_too_large: 413,
    uri_too_long: 414,
    unsupported_media_type: 415,
    range_not_satisfiable: 416,
    rate_limited: 429,
    headers_too_large: 431,
    internal_error: 500,
    key_issue_failed: 500,
    settlement_unknown: 502,
    overloaded: 503,
    upstream_unavailable: 503,
  });
});

test('codes that a retry may cure', () => {
  expect(ERROR_CODES.filter((code) => ERRORS[code].retryable)).toEqual([
    'payment_failed',
    'payment_in_progress',
    'request_in_progress',
    'request_timeout',
    'rate_limited',
    'key_budget_exhausted',
    'internal_error',
    'key_issue_failed',
    'settlement_unknown',
    'overloaded',
    'upstream_unavailable',
  ]);
});
