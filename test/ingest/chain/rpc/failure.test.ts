import { expect, test } from 'vitest';
import { failureOfRpcError, failureOfStatus, readRetryAfter } from '../../../../ingest/chain/rpc/failure.ts';

const kindOf = (code: number, message: string) => failureOfRpcError('eth_getLogs', { code, message }).kind;

test.each([
  [-32005, 'query returned more than 10000 results'],
  [-32005, 'query returned more than 10000 results. Try with this block range [0x1, 0x2].'],
  [-32000, 'block range is too wide'],
  [-32600, 'eth_getLogs is limited to a 10,000 range'],
  [
    -32602,
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size',
  ],
  [-32000, 'exceed maximum block range: 5000'],
  [-32000, 'requested too many blocks from 0 to 4096, maximum is set to 2048'],
  [-32602, 'block range too large, range 10000, max 1000'],
  [-32000, 'query exceeds max results 20000, retry with the range 1-2'],
  [-32000, 'ranges over 10000 blocks are not supported on freetier'],
  [-32000, 'query timeout exceeded'],
  [-32600, 'response is too big'],
  [-32000, 'logs matched by query exceeds limit of 10000'],
  [-32012, 'Block range limit exceeded. See more details'],
  [-32000, 'Max block range is 500'],
  [-32602, 'range must be less than 3000 blocks'],
  [-32600, 'eth_getLogs is limited to a 10 blocks range on the free plan'],
  [-32000, 'block range exceeds the limit of your plan'],
])('%i "%s" means: ask for less', (code, message) => {
  expect(kindOf(code, message)).toBe('too-large');
});

test.each([
  [-32005, 'limit exceeded'],
  [429, 'Your app has exceeded its compute units per second capacity'],
  [-32016, 'over rate limit'],
  [-32000, 'monthly quota exceeded limit'],
  [-32001, 'Monthly capacity limit exceeded'],
  [-32000, 'daily requests exceed limit'],
  [-32000, 'You have exceeded the limit of your plan'],
  [-32000, 'plan limit reached, please upgrade'],
  [-32000, 'Too Many Requests'],
  [-32005, 'daily request count exceeded, request rate limited'],
  [-32090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'],
])('%i "%s" means: wait', (code, message) => {
  expect(kindOf(code, message)).toBe('busy');
});

test.each([
  [-32601, 'the method eth_getLogs does not exist'],
  [-32602, 'invalid argument 0: hex string without 0x prefix'],
  [-32000, 'unknown block'],
  [-32000, 'header not found'],
  [-32601, 'this method is not available on your plan'],
  [-32000, 'block range extends beyond current head block'],
])('%i "%s" is refused, neither a matter of size nor of haste', (code, message) => {
  expect(kindOf(code, message)).toBe('refused');
});

test('a URL in a provider’s text does not reach our error', () => {
  const { message } = failureOfRpcError('eth_getLogs', {
    code: -32000,
    message: 'see https://rpc.example/key-of-mine now',
  });
  expect(message).toBe('eth_getLogs: see [url] now (-32000)');
});

test('a provider’s text is cut', () => {
  expect(
    failureOfRpcError('eth_getLogs', { code: 1, message: 'x'.repeat(10_000) }).message.length,
  ).toBeLessThan(300);
});

test('HTTP 429 waits as long as it says, 413 asks for less, anything else is unavailable', () => {
  expect(failureOfStatus(429, '7')).toMatchObject({ kind: 'busy', retryAfterMs: 7_000 });
  expect(failureOfStatus(413, null).kind).toBe('too-large');
  expect(failureOfStatus(503, '2')).toMatchObject({ kind: 'unavailable', retryAfterMs: 2_000 });
  expect(failureOfStatus(404, null)).toMatchObject({ kind: 'unavailable', retryAfterMs: null });
});

test('Retry-After is read as seconds or as a date, and nonsense as nothing', () => {
  const nowMs = Date.UTC(2026, 0, 1);
  expect(readRetryAfter('120', nowMs)).toBe(120_000);
  expect(readRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', nowMs)).toBe(30_000);
  expect(readRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', nowMs)).toBe(0);
  expect(readRetryAfter('soon', nowMs)).toBeNull();
  expect(readRetryAfter('', nowMs)).toBeNull();
  expect(readRetryAfter(null, nowMs)).toBeNull();
});
