import { describe, expect, test } from 'vitest';
import type { Chain } from '../../../../core/domain/chains.ts';
import { cached } from '../../../../src/operations/ask.ts';
import type { ChainStatus } from '../../../../src/operations/index-state/chain-status.ts';
import {
  chainFreshness,
  finalityOf,
  INDEX_LAG_WARNING_SECONDS,
  warningsOf,
} from '../../../../src/operations/index-state/freshness.ts';
import { testClock } from '../../../kit/api.ts';
import { BASE, NOON, POLYGON } from '../../../kit/rows.ts';

const status = (fields: Partial<ChainStatus> = {}): ChainStatus => ({
  chain: BASE,
  state: 'following',
  indexedBlock: 100,
  indexedTime: NOON - 60,
  headBlock: 100,
  headSeenAt: NOON - 2,
  finalizedBlock: 90,
  backfillBlocksDone: 0,
  backfillBlocksTotal: 0,
  backfillSource: null,
  rowsPerSecond: 0,
  blocksPerSecond: 0,
  rowsWritten: 0,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastError: '',
  feeHoursOpen: null,
  feeOldestOpen: null,
  lastWrittenAt: null,
  updatedAt: NOON,
  ...fields,
});
const lagOf = (fields: Partial<ChainStatus>): number | null =>
  chainFreshness(BASE, status(fields), NOON * 1_000).lagSeconds;

describe('lag', () => {
  test('at the tip it is the age of the last look at the tip, however quiet the chain', () => {
    expect(lagOf({ indexedTime: NOON - 5_000 })).toBe(2);
  });
  test('below the tip it is the age of the newest indexed block', () => {
    expect(lagOf({ headBlock: 101 })).toBe(60);
  });
  test('is never negative when clocks disagree', () => {
    expect(lagOf({ headSeenAt: NOON + 30 })).toBe(0);
  });
  test('is unknown before anything was indexed', () => {
    expect(lagOf({ indexedBlock: null, indexedTime: null })).toBeNull();
  });
  test('a configured chain without a report appears with nulls', () => {
    expect(chainFreshness(POLYGON, undefined, 0)).toEqual({
      chain: POLYGON,
      indexedBlock: null,
      indexedAt: null,
      headBlock: null,
      finalizedBlock: null,
      lagSeconds: null,
    });
  });
});

describe('warnings', () => {
  const warn = (fields: Partial<ChainStatus> | undefined) =>
    warningsOf(
      [BASE],
      new Map<Chain, ChainStatus>(fields === undefined ? [] : [[BASE, status(fields)]]),
      NOON * 1_000,
    );
  test('a fresh index has none', () => {
    expect(warn({})).toEqual([]);
  });
  test('a lag at the threshold is no warning, one second more is', () => {
    expect(warn({ headSeenAt: NOON - INDEX_LAG_WARNING_SECONDS })).toEqual([]);
    expect(warn({ headSeenAt: NOON - INDEX_LAG_WARNING_SECONDS - 1 })).toEqual(['index_lagging']);
  });
  test('a chain without a report has not started', () => {
    expect(warn(undefined)).toEqual(['index_not_started']);
  });
  test('an unfinished backfill is said', () => {
    expect(warn({ backfillBlocksDone: 1, backfillBlocksTotal: 2 })).toEqual(['backfill_in_progress']);
  });
});

test.each([
  [90, status(), 'finalized'],
  [91, status(), 'head'],
  [90, undefined, 'head'],
  [0, status({ finalizedBlock: null }), 'head'],
])('block %i is %s', (blockNumber, of, finality) => {
  expect(finalityOf(blockNumber, of)).toBe(finality);
});

describe('cached', () => {
  test('loads once for callers at the same time, and again when it is too old', async () => {
    const clock = testClock();
    let loads = 0;
    const get = cached({ clock, maxAgeMs: 1_000, load: async () => ++loads });
    expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
    expect(await get()).toBe(1);
    clock.advanceSeconds(1);
    expect(await get()).toBe(2);
  });
  test('a failed load reaches everybody who waited and is not kept', async () => {
    let loads = 0;
    const get = cached({
      clock: testClock(),
      maxAgeMs: 1_000,
      load: async () => {
        loads += 1;
        if (loads === 1) throw new Error('down');
        return loads;
      },
    });
    const both = await Promise.allSettled([get(), get()]);
    expect(both.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    expect(await get()).toBe(2);
  });
  test('an old value is answered while a new one is loaded, up to its limit', async () => {
    const clock = testClock();
    let end = (): void => undefined;
    const second = new Promise<string>((resolve) => {
      end = () => resolve('second');
    });
    const olds: (string | undefined)[] = [];
    const get = cached<string>({
      clock,
      maxAgeMs: 1_000,
      staleMs: 2_000,
      load: (old) => {
        olds.push(old);
        return olds.length === 1 ? Promise.resolve('first') : second;
      },
    });
    expect(await get()).toBe('first');
    clock.advanceSeconds(2.9);
    expect(await Promise.all([get(), get()])).toEqual(['first', 'first']);
    clock.advanceSeconds(0.1);
    const waiting = get();
    end();
    expect(await waiting).toBe('second');
    expect(olds).toEqual([undefined, 'first']);
  });
  test('a failed load behind an old value is tried again, and reaches callers once the value is too old', async () => {
    const clock = testClock();
    let loads = 0;
    const get = cached({
      clock,
      maxAgeMs: 1_000,
      staleMs: 2_000,
      load: async () => {
        loads += 1;
        if (loads > 1) throw new Error('down');
        return loads;
      },
    });
    await get();
    clock.advanceSeconds(1);
    expect([await get(), loads]).toEqual([1, 2]);
    await new Promise(setImmediate);
    expect([await get(), loads]).toEqual([1, 3]);
    clock.advanceSeconds(2);
    await expect(get()).rejects.toThrow('down');
  });
  test('a value that must not be kept is loaded each time', async () => {
    let loads = 0;
    const get = cached({
      clock: testClock(),
      maxAgeMs: 1_000,
      keep: () => false,
      load: async () => ++loads,
    });
    expect([await get(), await get()]).toEqual([1, 2]);
  });
});
