import { expect, test } from 'vitest';
import { createPenalties } from '../../sandbox/penalties.ts';
import { SandboxBusy } from '../../sandbox/sql-sandbox.ts';

const LIMITS = { lastsMs: 600_000, callersMax: 3 };

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
