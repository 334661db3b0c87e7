import { PassThrough } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createUnreadResults } from '../../../sandbox/run/admission.ts';
import { SandboxBusy } from '../../../sandbox/sandbox.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const LIMITS = { max: 3, maxPerCaller: 2, readMaxMs: 1_000, retryAfterSeconds: 5 };

function result(): PassThrough {
  const body = new PassThrough();
  body.end('rows');
  return body;
}

test('a caller who asks for more than it reads is refused until it reads', async () => {
  const unread = createUnreadResults(LIMITS);
  const bodies = [result(), result()];
  for (const body of bodies) {
    unread.check('a');
    unread.watch('a', body);
  }
  expect(() => unread.check('a')).toThrow(SandboxBusy);
  unread.check('b');
  await Promise.all(bodies.map((body) => readText(body)));
  await vi.waitFor(() => unread.check('a'));
});

test('all callers together have a bound, and a destroyed result is none', async () => {
  const unread = createUnreadResults(LIMITS);
  const bodies = ['a', 'b', 'c'].map((caller) => {
    const body = result();
    unread.watch(caller, body);
    return body;
  });
  expect(() => unread.check('d')).toThrow(SandboxBusy);
  bodies[0]?.destroy();
  await vi.waitFor(() => unread.check('d'));
});

test('a result that is not read in time is destroyed', async () => {
  const unread = createUnreadResults(LIMITS);
  const body = result();
  unread.watch('a', body);
  vi.advanceTimersByTime(999);
  expect(body.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(body.destroyed).toBe(true);
});
