import { expect, test } from 'vitest';
import { patternSteps } from '../../../sandbox/judge/work/pattern-size.ts';

test.each([
  ['^0x[0-9a-f]{40}$', 100, 300],
  ['a{1,1000}', 1_000, 1_100],
  ['a{1000,}', 1_000, 1_100],
  ['(a{30}){30}', 900, 1_100],
  ['a{30}{30}', 900, 1_100],
  ['(a?){500}a{500}', 1_000, 2_500],
  ['[)({]{100}', 100, 500],
  [String.raw`\d{3,5}`, 5, 40],
  ['a*b|a', 3, 10],
])('%s has its repeats written out', (pattern, least, most) => {
  expect(patternSteps(pattern)).toBeGreaterThanOrEqual(least);
  expect(patternSteps(pattern)).toBeLessThanOrEqual(most);
});

test('a pattern that hides its signs, or does not parse, counts no less than it has', () => {
  expect(patternSteps(String.raw`\Q)\E(a{900})`)).toBeGreaterThan(1_000);
  expect(patternSteps('a)b{900}')).toBeGreaterThan(900);
  expect(patternSteps('(((')).toBeGreaterThan(0);
  expect(patternSteps('[abc')).toBeGreaterThan(0);
});
