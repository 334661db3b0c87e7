import { describe, expect, test } from 'vitest';
import { createPenalties } from '../../../sandbox/run/penalties.ts';
import { SandboxBusy } from '../../../sandbox/sandbox.ts';

const LIMITS = {
  lastsMs: 600_000,
  callersMax: 3,
  organizationsOnlyAfter: 100,
  windowMs: 600_000,
  organizationsOnlyMs: 3_600_000,
  closedAfter: 2,
};

test('a penalty is of one caller, says how long it lasts, and ends', () => {
  let nowMs = 0;
  const penalties = createPenalties(LIMITS, () => nowMs);
  penalties.add('a');
  penalties.check('b');
  nowMs = 1_500;
  expect(() => penalties.check('a')).toThrow(
    expect.objectContaining({ name: 'SandboxBusy', reason: 'penalty', retryAfterSeconds: 599 }),
  );
  nowMs = 599_999;
  expect(() => penalties.check('a')).toThrow(SandboxBusy);
  nowMs = 600_000;
  penalties.check('a');
});

test('a second one begins anew', () => {
  let nowMs = 0;
  const penalties = createPenalties(LIMITS, () => nowMs);
  penalties.add('a');
  nowMs = 400_000;
  penalties.add('a');
  nowMs = 900_000;
  expect(() => penalties.check('a')).toThrow(expect.objectContaining({ retryAfterSeconds: 100 }));
});

test('so many callers are remembered and no more: the oldest is forgotten', () => {
  const penalties = createPenalties(LIMITS, () => 0);
  for (const caller of ['a', 'b', 'c']) penalties.add(caller);
  penalties.add('a');
  penalties.add('d');
  penalties.check('b');
  for (const caller of ['a', 'c', 'd']) expect(() => penalties.check(caller), caller).toThrow(SandboxBusy);
});

test('a penalty is of the whole range of an address, and of no other range', () => {
  const penalties = createPenalties({ ...LIMITS, callersMax: 10 }, () => 0);
  penalties.add('ip:203.0.113.7');
  penalties.add('ip:2001:db8:1:2::/64');
  for (const caller of ['ip:203.0.113.200', 'ip:2001:db8:1:ffff::/64'])
    expect(() => penalties.check(caller), caller).toThrow(expect.objectContaining({ reason: 'penalty' }));
  for (const caller of ['ip:203.0.114.7', 'ip:2001:db8:2:2::/64', 'org:203']) penalties.check(caller);
});

describe('the service as a whole', () => {
  const stage = () => {
    const clock = { nowMs: 0 };
    const changes: unknown[] = [];
    const penalties = createPenalties(
      { ...LIMITS, callersMax: 100, organizationsOnlyAfter: 3, onChange: (...told) => changes.push(told) },
      () => clock.nowMs,
    );
    let callers = 0;
    /** Each from a range of its own. */
    const addAt = (nowMs: number): void => {
      clock.nowMs = nowMs;
      callers += 1;
      penalties.add(`ip:10.0.${callers}.1`);
    };
    return { clock, changes, penalties, addAt };
  };
  const MINUTE_MS = 60_000;

  test('is for everyone while unstoppable queries are rare', () => {
    const { penalties, addAt, changes } = stage();
    for (const minute of [0, 9, 18, 27, 36]) addAt(minute * MINUTE_MS);
    penalties.check('ip:192.0.2.1');
    expect(penalties.openTo()).toBe('everyone');
    expect(changes).toEqual([]);
  });

  test('is for organizations only after a few within minutes, and for everyone an hour after the last', () => {
    const { penalties, addAt, changes, clock } = stage();
    for (const minute of [0, 1, 2]) addAt(minute * MINUTE_MS);
    expect(changes).toEqual([['organizations', 3]]);
    expect(() => penalties.check('ip:192.0.2.1')).toThrow(
      expect.objectContaining({ reason: 'organizations_only', retryAfterSeconds: 3_600 }),
    );
    penalties.check('org:a');
    addAt(30 * MINUTE_MS);
    clock.nowMs = 89 * MINUTE_MS;
    expect(penalties.openTo()).toBe('organizations');
    clock.nowMs = 90 * MINUTE_MS;
    penalties.check('ip:192.0.2.1');
    expect(changes).toEqual([
      ['organizations', 3],
      ['everyone', 1],
    ]);
  });

  test('is for no caller when organizations go on with it, and stays so', () => {
    const { penalties, addAt, changes, clock } = stage();
    for (const minute of [0, 1, 2, 3, 4]) addAt(minute * MINUTE_MS);
    expect(changes).toEqual([
      ['organizations', 3],
      ['no_caller', 2],
    ]);
    clock.nowMs = 1_000_000 * MINUTE_MS;
    for (const caller of ['org:a', 'ip:192.0.2.1'])
      expect(() => penalties.check(caller)).toThrow(expect.objectContaining({ reason: 'closed' }));
    expect(penalties.openTo()).toBe('no_caller');
  });
});
