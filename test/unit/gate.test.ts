import { describe, expect, test } from 'vitest';
import { admit, readCaller } from '../../src/gate/caller.ts';
import { addressKey, createRateLimiter } from '../../src/gate/rate-limit.ts';
import { testClock } from '../support/api.ts';

describe('the rate limiter', () => {
  test('allows the quota, refuses the next, and allows again in the next window', () => {
    const clock = testClock();
    const limiter = createRateLimiter({ clock, requestsPerMinute: 2 });
    expect([limiter.take('a'), limiter.take('a'), limiter.take('a')].map((taken) => taken.allowed)).toEqual([
      true,
      true,
      false,
    ]);
    clock.advanceSeconds(59);
    expect(limiter.take('a')).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 1 });
    clock.advanceSeconds(1);
    expect(limiter.take('a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetSeconds: 60 });
  });

  test('keeps callers apart', () => {
    const limiter = createRateLimiter({ clock: testClock(), requestsPerMinute: 1 });
    expect(limiter.take('a').allowed).toBe(true);
    expect(limiter.take('b').allowed).toBe(true);
    expect(limiter.take('a').allowed).toBe(false);
  });

  test('forgets the caller unseen for longest when the table is full', () => {
    const limiter = createRateLimiter({ clock: testClock(), requestsPerMinute: 2, keysMax: 2 });
    limiter.take('a');
    limiter.take('b');
    limiter.take('a');
    limiter.take('c');
    expect(limiter.take('a').allowed).toBe(false);
    expect(limiter.take('b').remaining).toBe(1);
  });
});

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('address %s counts as %s', (ip, key) => {
  expect(addressKey(ip)).toBe(key);
});

describe('the caller', () => {
  test.each([
    ['no header', {}, false, null],
    ['an empty key', { 'x-api-key': ' ' }, false, null],
    ['a bearer', { authorization: 'Bearer six_live_x' }, true, false],
    ['an API key', { 'x-api-key': 'six_live_x' }, true, false],
  ])('%s', (_what, headers, keyPresent, keyRecognised) => {
    expect(readCaller(headers)).toMatchObject({ keyPresent, keyRecognised });
  });

  test('an unknown key is refused except where the operation answers it', () => {
    const unknown = readCaller({ 'x-api-key': 'six_live_x' });
    expect(() => admit(unknown, { acceptsUnknownKey: false })).toThrow(
      expect.objectContaining({ code: 'invalid_api_key' }),
    );
    expect(() => admit(unknown, { acceptsUnknownKey: true })).not.toThrow();
    expect(() => admit(readCaller({}), { acceptsUnknownKey: false })).not.toThrow();
  });
});
