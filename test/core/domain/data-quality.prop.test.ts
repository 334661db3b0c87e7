import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JudgedFacts, judge, SIGNALS, VERDICTS } from '../../../core/domain/data-quality.ts';

/** Facts as a scan gives them: from sums of counterparties, so that the parts fit the whole. */
const factsOf = fc
  .record({
    role: fc.constantFrom('payee' as const, 'payer' as const),
    sums: fc.array(fc.record({ usd: fc.bigInt(0n, 10n ** 24n), isMutual: fc.boolean() }), { maxLength: 30 }),
    self: fc.bigInt(0n, 10n ** 24n),
    settlements: fc.nat(50),
    rings: fc.nat(3),
  })
  .map(({ role, sums, self, settlements, rings }): JudgedFacts => {
    const total = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);
    const dollars = sums.map(({ usd }) => usd);
    return {
      role,
      observed: settlements > 0,
      settlements,
      usdMicros: total(dollars) + self,
      selfUsdMicros: self,
      largestUsdMicros: dollars.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n,
      squaredUsdMicros: total(dollars.map((usd) => usd * usd)),
      reciprocalUsdMicros: total(sums.filter(({ isMutual }) => isMutual).map(({ usd }) => usd)),
      rings,
    };
  });

test('shares lie within [0,1], and what triggered can be read off value and threshold', () => {
  fc.assert(
    fc.property(factsOf, (facts) => {
      const { signals, verdict } = judge(facts);
      expect(VERDICTS).toContain(verdict);
      for (const { id, value, threshold, triggered } of signals) {
        if (SIGNALS[id].unit === 'share' && value !== null) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        expect(triggered).toBe(value !== null && value >= threshold);
      }
    }),
  );
});

test('the index of concentration is at most the largest share', () => {
  fc.assert(
    fc.property(factsOf, (facts) => {
      const [, concentration, dominance] = judge(facts).signals;
      if (concentration?.value == null || dominance?.value == null) return;
      expect(concentration.value).toBeLessThanOrEqual(dominance.value);
    }),
  );
});

test('all dollars times a factor give the same judgement', () => {
  fc.assert(
    fc.property(factsOf, fc.bigInt(1n, 10n ** 12n), (facts, factor) => {
      const scaled: JudgedFacts = {
        ...facts,
        usdMicros: facts.usdMicros * factor,
        selfUsdMicros: facts.selfUsdMicros * factor,
        largestUsdMicros: facts.largestUsdMicros * factor,
        squaredUsdMicros: facts.squaredUsdMicros * factor * factor,
        reciprocalUsdMicros: facts.reciprocalUsdMicros * factor,
      };
      expect(judge(scaled)).toEqual(judge(facts));
    }),
  );
});

test('another ring never makes a verdict better', () => {
  const rank = (facts: JudgedFacts): number => VERDICTS.indexOf(judge(facts).verdict);
  fc.assert(
    fc.property(factsOf, (facts) => {
      expect(rank({ ...facts, rings: facts.rings + 1 })).toBeGreaterThanOrEqual(rank(facts));
    }),
  );
});
