import { describe, expect, test } from 'vitest';
import { render, type Sql } from '../../../../clickhouse/engine/sql.ts';
import {
  closedHours,
  closedSlices,
  DAY_SECONDS,
  joinRanges,
  openFrom,
  openRows,
} from '../../../../clickhouse/tables/coverage.ts';

const tail = { from: 900, to: null };

describe('joinRanges', () => {
  test('ranges that touch or overlap are one, whatever the order', () => {
    expect(joinRanges([{ from: 20, to: 30 }, tail, { from: 0, to: 10 }, { from: 5, to: 20 }], 9)).toEqual([
      { from: 0, to: 30 },
      tail,
    ]);
  });
  test('a range inside a longer one does not shorten it', () => {
    expect(
      joinRanges(
        [
          { from: 0, to: 50 },
          { from: 10, to: 20 },
          { from: 40, to: 45 },
        ],
        9,
      ),
    ).toEqual([{ from: 0, to: 50 }]);
  });
  test('what begins inside the open tail is part of it', () => {
    expect(joinRanges([{ from: 950, to: 960 }, tail], 9)).toEqual([tail]);
  });
  test('beyond the maximum the smallest gaps are closed and the largest stay', () => {
    const ranges = [
      { from: 0, to: 10 },
      { from: 12, to: 20 },
      { from: 500, to: 510 },
      { from: 515, to: 520 },
      tail,
    ];
    expect(joinRanges(ranges, 3)).toEqual([{ from: 0, to: 20 }, { from: 500, to: 520 }, tail]);
    expect(joinRanges(ranges, 1)).toEqual([{ from: 0, to: null }]);
  });
  test('nothing is nothing', () => {
    expect(joinRanges([], 3)).toEqual([]);
  });
});

describe('openFrom', () => {
  const coverage = {
    open: [
      { from: 2 * DAY_SECONDS, to: 3 * DAY_SECONDS },
      { from: 9 * DAY_SECONDS, to: null },
    ],
    splitDays: ['1970-01-02'],
  };
  test('opens from the beginning of the day and keeps what was open before', () => {
    expect(openFrom(coverage, 5 * DAY_SECONDS + 7)).toEqual({
      open: [
        { from: 2 * DAY_SECONDS, to: 3 * DAY_SECONDS },
        { from: 5 * DAY_SECONDS, to: null },
      ],
      splitDays: ['1970-01-02'],
    });
  });
  test('changes nothing where everything is open already', () => {
    expect(openFrom(coverage, 10 * DAY_SECONDS)).toEqual(coverage);
  });
});

test('conditions carry times and days as values, and without an open range everything is closed', () => {
  const coverage = {
    open: [
      { from: 1_795_132_800, to: 1_795_219_200 },
      { from: 1_795_300_000, to: null },
    ],
    splitDays: ['2026-11-20'],
  };
  const values = (condition: Sql): unknown[] => Object.values(render(condition).params);
  expect(values(openRows(coverage)).map(Number)).toEqual([1_795_132_800, 1_795_219_200, 1_795_300_000]);
  expect(values(closedSlices(coverage))).toEqual([['2026-11-20'], ...values(openRows(coverage))]);
  expect(render(closedHours({ open: [], splitDays: [] })).query).toBe('NOT (0)');
  expect(render(openRows({ open: [], splitDays: [] })).query).toBe('(0)');
});
