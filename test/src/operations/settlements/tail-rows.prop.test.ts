import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListedSettlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Position } from '../../../../core/domain/settlement.ts';
import {
  pageOf,
  type TailRows,
  tailOf,
  withRowsSince,
} from '../../../../src/operations/settlements/tail-rows.ts';
import { BASE, POLYGON, settlement } from '../../../kit/rows.ts';

const SECONDS = 12;

interface Written {
  readonly second: number;
  readonly chain: typeof BASE;
  readonly logIndex: number;
  /** How it is graded; -1 takes it away. */
  readonly grade: number;
}

const written = fc.record<Written>({
  second: fc.integer({ min: 0, max: SECONDS }),
  chain: fc.constantFrom(BASE, POLYGON),
  logIndex: fc.integer({ min: 0, max: 3 }),
  grade: fc.integer({ min: -1, max: 2 }),
});

function row({ second, chain, logIndex, grade }: Written): ListedSettlement {
  return settlement({
    blockTime: second,
    blockNumber: second * 10,
    chain,
    logIndex,
    facilitator: `f${grade}`,
  });
}

const KEY = (at: Position): string =>
  [at.blockTime, at.chain.padStart(20), at.blockNumber, at.logIndex]
    .map((part) => String(part).padStart(20))
    .join();
const byNewest = (a: Position, b: Position): number => (KEY(a) < KEY(b) ? 1 : -1);

/** What the engine holds, by place. */
type Table = Map<string, ListedSettlement>;
const newestFirst = (table: Table): ListedSettlement[] => [...table.values()].sort(byNewest);

function apply(table: Table, one: Written): void {
  if (one.grade < 0) table.delete(KEY(row(one)));
  else table.set(KEY(row(one)), row(one));
}

function naivePage(
  table: Table,
  limit: number,
  before: Position | undefined,
  final: ReadonlyMap<string, number> | undefined,
) {
  const below = newestFirst(table)
    .filter((one) => before === undefined || KEY(one) < KEY(before))
    .filter((one) => final === undefined || one.blockNumber <= (final.get(one.chain) ?? -1));
  const rows = below.slice(0, limit);
  return { rows, nextBefore: below.length > limit ? rows.at(-1) : undefined };
}

const history = fc.record({
  first: fc.array(written, { maxLength: 40 }),
  held: fc.integer({ min: 1, max: 30 }),
  rounds: fc.array(fc.array(written, { maxLength: 6 }), { maxLength: 8 }),
  renewedMax: fc.integer({ min: 1, max: 20 }),
  queries: fc.array(
    fc.record({
      limit: fc.integer({ min: 1, max: 10 }),
      before: fc.option(written, { nil: undefined }),
      final: fc.option(fc.integer({ min: 0, max: SECONDS * 10 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

interface Question {
  readonly limit: number;
  readonly before: Written | undefined;
  readonly final: number | undefined;
}

/** The page from memory and from the table; undefined where memory does not know it. */
function bothPages(tail: TailRows, table: Table, { limit, before, final }: Question) {
  const at = before === undefined ? undefined : row(before);
  const blocks = final === undefined ? undefined : [{ chain: BASE, block: final }];
  const page = pageOf(tail, { limit, before: at, final: blocks });
  const finalTo = final === undefined ? undefined : new Map([[BASE as string, final]]);
  return page === undefined ? undefined : { page, expected: naivePage(table, limit, at, finalTo) };
}

test('a page from memory is the page of the table, whatever is written, regraded or taken, or memory says that it does not know', () => {
  let known = 0;
  const follow = ({
    first,
    held,
    rounds,
    renewedMax,
    queries,
  }: typeof history extends fc.Arbitrary<infer H> ? H : never): void => {
    const table: Table = new Map();
    for (const one of first) apply(table, one);
    const all = newestFirst(table);
    let tail: TailRows = tailOf(all.slice(0, held), all.length > held ? all[held - 1] : undefined);
    for (const round of [[], ...rounds]) {
      for (const one of round) apply(table, one);
      tail = renewed(tail, table, round, renewedMax);
      const pages = queries.flatMap((query) => bothPages(tail, table, query) ?? []);
      known += pages.length;
      for (const { page, expected } of pages) expect(page).toEqual(expected);
    }
  };
  fc.assert(fc.property(history, follow), { numRuns: 2_000 });
  expect(known).toBeGreaterThan(1_000);
});

/** As the tail follows the log of changes: from the oldest second that was touched and is within. */
function renewed(tail: TailRows, table: Table, round: readonly Written[], max: number): TailRows {
  const floor = tail.floor?.blockTime ?? 0;
  const touched = round.map(({ second }) => second).filter((second) => second >= floor);
  if (touched.length === 0) return tail;
  const since = Math.min(...touched);
  const rows = newestFirst(table)
    .filter(({ blockTime }) => blockTime >= since)
    .slice(0, max);
  return withRowsSince(tail, { since, rows, isAll: rows.length < max });
}

test('rows that did not change leave the tail as it is, so that answers made from it are kept', () => {
  const rows = [3, 2, 1].map((second) => row({ second, chain: BASE, logIndex: 0, grade: 0 }));
  const tail = tailOf(rows, undefined);
  const again = rows.slice(0, 2).map((one) => ({ ...one }));
  expect(withRowsSince(tail, { since: 2, rows: again, isAll: true })).toBe(tail);
  const regraded = [{ ...again[0], facilitator: 'other' } as ListedSettlement, ...again.slice(1)];
  expect(withRowsSince(tail, { since: 2, rows: regraded, isAll: true })).not.toBe(tail);
});
