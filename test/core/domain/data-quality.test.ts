import { describe, expect, test } from 'vitest';
import {
  type JudgedFacts,
  judge,
  SIGNALS,
  VERDICT_MEANING,
  VERDICTS,
} from '../../../core/domain/data-quality.ts';

/** Thresholds are pinned here as numbers: a change of one is a change of the method, and of METHOD_VERSION. */

/** Ten payers with ten dollars each. */
const HEALTHY: JudgedFacts = {
  role: 'payee',
  observed: true,
  settlements: 10,
  usdMicros: 100_000_000n,
  selfUsdMicros: 0n,
  largestUsdMicros: 10_000_000n,
  squaredUsdMicros: 10n * 10_000_000n ** 2n,
  reciprocalUsdMicros: 0n,
  rings: 0,
};
const verdict = (facts: Partial<JudgedFacts>): string => judge({ ...HEALTHY, ...facts }).verdict;
const signal = (facts: Partial<JudgedFacts>, id: string) =>
  judge({ ...HEALTHY, ...facts }).signals.find((one) => one.id === id);

describe('verdicts', () => {
  test('nothing in the role is unobserved, whatever else is known', () => {
    expect(verdict({ observed: false, settlements: 0, rings: 3 })).toBe('unobserved');
  });

  test('nine settlements are too few to judge, ten are enough', () => {
    expect(verdict({ settlements: 9 })).toBe('insufficient');
    expect(verdict({ settlements: 10 })).toBe('clean');
  });

  test('observed, but not in the scanned part, is insufficient and not clean', () => {
    expect(verdict({ settlements: 0, usdMicros: 0n, largestUsdMicros: 0n, squaredUsdMicros: 0n })).toBe(
      'insufficient',
    );
  });

  test('one kind of signal is mixed, however many of that kind', () => {
    expect(verdict({ largestUsdMicros: 50_000_000n })).toBe('mixed');
    expect(verdict({ largestUsdMicros: 90_000_000n, squaredUsdMicros: 9n * 10n ** 15n })).toBe('mixed');
    expect(verdict({ reciprocalUsdMicros: 10_000_000n, rings: 1 })).toBe('mixed');
  });

  test('money that comes back together with few counterparties is suspect', () => {
    expect(verdict({ largestUsdMicros: 50_000_000n, rings: 1 })).toBe('suspect');
  });

  test('half of the money coming back is suspect by itself, just below is mixed', () => {
    expect(verdict({ reciprocalUsdMicros: 50_000_000n })).toBe('suspect');
    expect(verdict({ reciprocalUsdMicros: 49_999_999n })).toBe('mixed');
    expect(verdict({ usdMicros: 200_000_000n, selfUsdMicros: 100_000_000n })).toBe('suspect');
    expect(verdict({ usdMicros: 199_990_000n, selfUsdMicros: 99_990_000n })).toBe('mixed');
  });

  test('a wallet that only pays itself is suspect', () => {
    const only = { selfUsdMicros: 100_000_000n, largestUsdMicros: 0n, squaredUsdMicros: 0n };
    expect(verdict(only)).toBe('suspect');
    expect(signal(only, 'payer_concentration')).toMatchObject({ value: null, triggered: false });
  });

  test('settlements of no dollars have no shares', () => {
    const { verdict: given, signals } = judge({
      ...HEALTHY,
      usdMicros: 0n,
      largestUsdMicros: 0n,
      squaredUsdMicros: 0n,
    });
    expect(given).toBe('clean');
    expect(signals.map(({ value }) => value)).toEqual([null, null, null, null, 0]);
  });
});

describe('signals', () => {
  test.each([
    [
      'self_payment_share',
      0.1,
      { usdMicros: 10_000n, selfUsdMicros: 1_000n },
      { usdMicros: 10_000n, selfUsdMicros: 999n },
    ],
    [
      'payer_concentration',
      0.25,
      { usdMicros: 4n, squaredUsdMicros: 4n },
      { usdMicros: 100n, squaredUsdMicros: 2_499n },
    ],
    [
      'single_payer_dominance',
      0.5,
      { usdMicros: 2n, largestUsdMicros: 1n },
      { usdMicros: 10_000n, largestUsdMicros: 4_999n },
    ],
    [
      'reciprocity',
      0.1,
      { usdMicros: 10n, reciprocalUsdMicros: 1n },
      { usdMicros: 10_000n, reciprocalUsdMicros: 999n },
    ],
    ['ring_membership', 1, { rings: 1 }, { rings: 0 }],
  ] as const)('%s is triggered at %s and not below', (id, threshold, at, under) => {
    expect(signal(at, id)).toEqual({ id, value: threshold, threshold, triggered: true });
    expect(signal(under, id)).toMatchObject({ threshold, triggered: false });
  });

  test('an agent is judged by whom it pays', () => {
    expect(judge({ ...HEALTHY, role: 'payer' }).signals.map(({ id }) => id)).toEqual([
      'self_payment_share',
      'payee_concentration',
      'single_payee_dominance',
      'reciprocity',
      'ring_membership',
    ]);
  });

  test('every signal and verdict has a meaning in words', () => {
    for (const { meaning } of Object.values(SIGNALS)) expect(meaning).toMatch(/\.$/);
    for (const each of VERDICTS) expect(VERDICT_MEANING[each]).toMatch(/\.$/);
  });
});
