import { expect, test } from 'vitest';
import { ERROR_CODES, ERRORS } from '../../src/errors.ts';

/** Callers branch on these: a change here is a change of the wire. */
test('codes and statuses', () => {
  expect(Object.fromEntries(ERROR_CODES.map((code) => [code, ERRORS[code].status]))).toEqual({
    invalid_parameter: 400,
    malformed_request: 400,
    invalid_api_key: 401,
    not_found: 404,
    method_not_allowed: 405,
    request_timeout: 408,
    payload_too_large: 413,
    uri_too_long: 414,
    unsupported_media_type: 415,
    rate_limited: 429,
    headers_too_large: 431,
    internal_error: 500,
    upstream_unavailable: 503,
  });
});

test('codes that a retry may cure', () => {
  expect(ERROR_CODES.filter((code) => ERRORS[code].retryable)).toEqual([
    'request_timeout',
    'rate_limited',
    'internal_error',
    'upstream_unavailable',
  ]);
});
