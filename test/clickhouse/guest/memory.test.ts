import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  engineMegabytes,
  GUEST_MEMORY_MAX_BYTES,
  guestMemoryBytes,
  MEMORY_SHARES,
  MEMORY_SHARES_MAX,
  queriesAtOnce,
  spillSettings,
  threadsWithin,
} from '../../../clickhouse/guest/memory.ts';
import { createSpareMemory } from '../../../sandbox/run/memory.ts';

const GIBIBYTE = 1024 ** 3;

describe('memory of callers’ queries', () => {
  test('without a configured cap the engine has half of the machine’s, and never less than it needs to start', () => {
    expect(engineMegabytes(null, 24 * GIBIBYTE)).toBe(12 * 1024);
    expect(engineMegabytes(null, 0.5 * GIBIBYTE)).toBe(512);
    expect(engineMegabytes(4_096, 24 * GIBIBYTE)).toBe(4_096);
  });

  test('whatever runs at once holds no more than the callers’ part of the engine', () => {
    const tier = fc.constantFrom(...Object.values(MEMORY_SHARES));
    fc.assert(
      fc.property(
        fc.integer({ min: 512, max: 1_000_000 }),
        fc.integer({ min: 1, max: 128 }),
        fc.array(tier, { maxLength: 300 }),
        (megabytes, cores, wanted) => {
          const engineBytes = megabytes * 1024 * 1024;
          const share = guestMemoryBytes(engineBytes, cores);
          const spare = createSpareMemory(queriesAtOnce(cores));
          const running = wanted.slice(0, queriesAtOnce(cores)).map((shares) => spare.take(shares));
          const held = running.reduce((sum, { shares }) => sum + shares * share, 0);
          expect(held).toBeLessThanOrEqual(engineBytes * 0.6);
          for (const { shares } of running)
            expect(shares * share).toBeLessThanOrEqual(GUEST_MEMORY_MAX_BYTES);
        },
      ),
    );
  });

  test('a larger tier gets its shares again when they were given back, once', () => {
    const spare = createSpareMemory(4);
    const [first, second] = [spare.take(MEMORY_SHARES_MAX), spare.take(MEMORY_SHARES_MAX)];
    expect([first.shares, second.shares, spare.take(2).shares, spare.take(1).shares]).toEqual([4, 2, 1, 1]);
    first.giveBack();
    first.giveBack();
    expect([spare.take(MEMORY_SHARES_MAX).shares, spare.take(MEMORY_SHARES_MAX).shares]).toEqual([4, 1]);
  });

  test('it goes on disk long before the limit, and has no more threads than fit', () => {
    for (const bytes of Object.values(spillSettings(1_000_000_000))) expect(bytes).toBeLessThan(340_000_000);
    expect(spillSettings(1_000_000_000, true)).toMatchObject({
      max_bytes_before_external_group_by: 450_000_000,
    });
    expect([threadsWithin(90_000_000, 8), threadsWithin(450_000_000, 8), threadsWithin(4e9, 8)]).toEqual([
      1, 4, 8,
    ]);
  });
});
