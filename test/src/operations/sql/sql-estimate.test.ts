import { expect, test } from 'vitest';
import { MEMORY_SHARES } from '../../../../clickhouse/guest/memory.ts';
import { NO_REWRITES } from '../../../../sandbox/judge/rewrites.ts';
import type { Estimate } from '../../../../sandbox/sandbox.ts';
import { type SqlTier, sqlBudget, sqlTierOf } from '../../../../src/operations/prices.ts';
import { explainAnswer } from '../../../../src/operations/sql/estimate.ts';
import { SQL_EXAMPLE } from '../../../../src/operations/sql/shapes.ts';

/** What a query of so many rows is said to cost within a budget. */
function estimated(
  rows: number | null,
  tier: SqlTier,
  maxQu?: number,
  walletKeys: string[] = [],
  joined: Partial<Estimate> & { readonly text?: string } = {},
) {
  const accepted = {
    text: joined.text ?? 'SELECT 1',
    tables: [],
    functions: [],
    parameters: [],
    warnings: [],
    rewrites: NO_REWRITES,
    blockRows: 8_192,
    safeToPlan: true,
    namedConstants: [],
    walletKeys,
  };
  const none = { rowsJoined: 0, rowsJoinedMax: 0, rowsCrossed: 0, heldShares: 0 };
  const estimate = { rows, bytes: rows, ...none, ...joined, withoutKey: [], withoutTime: [] };
  const budget = sqlBudget(tier, maxQu);
  const answer = explainAnswer({
    accepted,
    estimate,
    tier,
    budget,
    rowsMax: 10_000,
    meta: SQL_EXAMPLE.meta,
    warnings: [],
  });
  const { qu_min: least, qu_max: most } = answer.estimate;
  return { least, most, warnings: answer.warnings.map(({ code }) => code) };
}

const standard = sqlTierOf('standard');

test('a query costs no more than its budget, and is warned of one that may be too small', () => {
  // Seven million rows are a third of a second at best and two units at worst.
  expect(estimated(7_000_000, standard)).toEqual({ least: 1, most: 2, warnings: [] });
  expect(estimated(7_000_000, standard, 2)).toEqual({ least: 1, most: 2, warnings: [] });
  expect(estimated(7_000_000, standard, 1)).toEqual({ least: 1, most: 1, warnings: ['budget_too_small'] });
});

test('a tier that is too small is warned of as a tier, however many units of it were bought', () => {
  expect(estimated(70_000_000, standard).warnings).toEqual(['tier_too_small']);
  expect(estimated(70_000_000, standard, 1).warnings).toEqual(['tier_too_small']);
});

test('without an estimate a query may cost all that was bought', () => {
  const open = { least: 1, warnings: ['estimate_unavailable'] };
  expect(estimated(null, sqlTierOf('extended'))).toEqual({ ...open, most: 12 });
  expect(estimated(null, sqlTierOf('extended'), 4)).toEqual({ ...open, most: 4 });
});

test('a query over millions of rows is advised of the ids that it could group by', () => {
  expect(estimated(1_000_000, standard, undefined, ['payer_id']).warnings).toEqual(['ids_are_faster']);
  expect(estimated(999_999, standard, undefined, ['payer_id']).warnings).toEqual([]);
});

test('the most that a join may cost counts every row that it may make, and the advice those that it is likely to make', () => {
  const equal = { rowsJoined: 500_000, rowsJoinedMax: 500_000 ** 2 };
  expect(estimated(1_000_000, standard, undefined, [], equal)).toEqual({ least: 1, most: 3, warnings: [] });
  const cross = { rowsJoined: 500_000 ** 3, rowsJoinedMax: 500_000 ** 3, rowsCrossed: 500_000 ** 3 };
  const all = { most: 3, warnings: ['tier_too_small'] };
  expect(estimated(1_500_000, standard, undefined, [], cross)).toEqual({ least: 3, ...all });
  const text = 'SELECT count() FROM settlements AS a CROSS JOIN settlements AS b WHERE a.payer = b.payee';
  expect(estimated(1_500_000, standard, undefined, [], { ...cross, text })).toEqual({ least: 1, ...all });
});

test('a query is warned of memory by the shares of its tier', () => {
  const warnings = (tier: SqlTier, heldShares: number) =>
    estimated(1_000, tier, undefined, [], { heldShares }).warnings;
  expect(warnings(standard, MEMORY_SHARES.standard)).toEqual([]);
  expect(warnings(standard, MEMORY_SHARES.standard + 0.1)).toEqual(['may_exceed_memory']);
  expect(warnings(sqlTierOf('extended'), MEMORY_SHARES.extended)).toEqual([]);
  expect(warnings(sqlTierOf('extended'), MEMORY_SHARES.extended + 0.1)).toEqual(['may_exceed_memory']);
});
