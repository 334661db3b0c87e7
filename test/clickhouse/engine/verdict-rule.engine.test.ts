import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { SHARE_COLUMNS, triggeredOf, verdictOf } from '../../../clickhouse/engine/verdict-rule.ts';
import { type JudgedFacts, type JudgedRole, judge } from '../../../core/domain/data-quality.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';

/** The rule as the engine computes it, held against `judge` on facts around every threshold. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await testEngine();
});
afterAll(() => engine?.close());

const FACTS = 400;

/** A part of a whole: any, none, all, or within one of a threshold. */
const part = (whole: bigint): fc.Arbitrary<bigint> =>
  fc
    .oneof(
      fc.bigInt({ min: 0n, max: whole }),
      fc.constantFrom(0n, whole),
      fc
        .tuple(fc.constantFrom(1_000n, 2_500n, 5_000n), fc.constantFrom(-1n, 0n, 1n))
        .map(([share, step]) => (whole * share) / 10_000n + step),
    )
    .map((value) => {
      if (value < 0n) return 0n;
      return value > whole ? whole : value;
    });

const facts = fc
  .record({
    settlements: fc.constantFrom(0, 1, 9, 10, 11, 5_000),
    usdMicros: fc.oneof(fc.constantFrom(0n, 1n, 9_999n, 10_000n), fc.bigInt({ min: 0n, max: 10n ** 20n })),
    rings: fc.constantFrom(0, 0, 1, 16),
  })
  .chain((known) =>
    part(known.usdMicros).chain((selfUsdMicros) => {
      const rest = known.usdMicros - selfUsdMicros;
      return fc.record({
        settlements: fc.constant(known.settlements),
        usdMicros: fc.constant(known.usdMicros),
        rings: fc.constant(known.rings),
        selfUsdMicros: fc.constant(selfUsdMicros),
        largestUsdMicros: part(rest),
        squaredUsdMicros: part(rest * rest),
        reciprocalUsdMicros: part(rest),
      });
    }),
  );

async function inEngine(role: JudgedRole, all: readonly Omit<JudgedFacts, 'role' | 'observed'>[]) {
  const tuples = all.map(
    (one) =>
      `(toUInt64(${one.settlements}), toInt256('${one.usdMicros}'), toInt256('${one.selfUsdMicros}'), toInt256('${one.largestUsdMicros}'), toInt256('${one.squaredUsdMicros}'), toInt256('${one.reciprocalUsdMicros}'), toUInt64(${one.rings}))`,
  );
  const { rows } = await engine.reader.rows({
    name: 'test-rule',
    maxSeconds: 30,
    maxRows: all.length,
    sql: sql`SELECT ${verdictOf(role)}, ${triggeredOf(role)}, self_share, concentration, largest_share, reciprocal_share
      FROM (SELECT *, ${SHARE_COLUMNS} FROM (SELECT one.1 AS settlements, one.2 AS gross, one.3 AS self, one.4 AS largest, one.5 AS squared,
        one.6 AS mutual, one.7 AS rings FROM (SELECT arrayJoin([${trustedText(tuples.join(', '))}]) AS one)))`,
  });
  return rows;
}

test.each(['payee', 'payer'] as const)('every fact about a %s is judged as `judge` does', async (role) => {
  const all = fc.sample(facts, FACTS);
  const found = await inEngine(role, all);
  const verdicts = new Set<string>();
  for (const [at, one] of all.entries()) {
    const { verdict, signals } = judge({ ...one, role, observed: true });
    const shares = signals.slice(0, 4).map(({ value }) => (value === null ? -1 : Math.round(value * 10_000)));
    const triggered = signals.filter((signal) => signal.triggered).map(({ id }) => id);
    expect(found[at], fc.stringify(one)).toEqual([verdict, triggered, ...shares]);
    verdicts.add(verdict);
  }
  expect([...verdicts].sort()).toEqual(['clean', 'insufficient', 'mixed', 'suspect']);
});
