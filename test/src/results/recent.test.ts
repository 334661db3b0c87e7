import { expect, test } from 'vitest';
import type { ResultRecord } from '../../../src/accounts/result-store.ts';
import { createResults, type ResultsDeps } from '../../../src/results/results.ts';

/** What a kept result of so many rows answers; `hasMore`: its run was cut at them. */
function recentOf(rows: number, hasMore: boolean) {
  const facts = { rows, maxRows: hasMore ? rows : 1_000_000, hasMore };
  const record = { id: `${rows} ${hasMore}`, facts: JSON.stringify(facts) } as ResultRecord; // only these are read
  const deps = { store: { results: { newest: async () => record } }, clock: { nowMs: () => 0 } };
  const { recent } = createResults(deps as unknown as ResultsDeps); // no file is read
  return (maxRows: number) => recent({ queryKey: 'k', maxRows, maxAgeMs: 1 });
}

test.each<[number, boolean, number, { rows: number; hasMore: boolean } | null]>([
  [100, false, 100, { rows: 100, hasMore: false }],
  [100, false, 101, { rows: 100, hasMore: false }],
  [100, false, 10, { rows: 10, hasMore: true }],
  [100, true, 10, { rows: 10, hasMore: true }],
  [100, true, 100, { rows: 100, hasMore: true }],
  [100, true, 101, null],
])(
  'a kept result of %i rows (cut: %s) answers a query of at most %i with %o',
  async (rows, hasMore, maxRows, expected) => {
    const recent = recentOf(rows, hasMore);
    // Whatever was asked of it before.
    await recent(5);
    const found = await recent(maxRows);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
  },
);
