import { describe, expect, test } from 'vitest';
import {
  LANDLOCK_ABI_MIN,
  type LandlockAccess,
  rightsOfAbi,
  rightsOfRule,
  rulesetOfAbi,
} from '../../../clickhouse/embedded/landlock.ts';

const ACCESSES: readonly LandlockAccess[] = ['read', 'run', 'use', 'own'];
/** As `linux/landlock.h` counts them: the highest right that each ABI knows. */
const HIGHEST: readonly (readonly [abi: number, bit: bigint])[] = [
  [1, 12n],
  [2, 13n],
  [3, 14n],
  [4, 14n],
  [5, 15n],
  [7, 15n],
];
const READ_DIR = 1n << 3n;
const EXECUTE = 1n;
const REFER = 1n << 13n;

describe('rights of Landlock', () => {
  test.each(HIGHEST)(
    'ABI %i restricts every right up to bit %i, and names none that it does not know',
    (abi, bit) => {
      expect(rightsOfAbi(abi)).toBe((1n << (bit + 1n)) - 1n);
    },
  );

  test.each(HIGHEST.map(([abi]) => abi))('a rule for ABI %i allows only what that ABI restricts', (abi) => {
    for (const access of ACCESSES)
      for (const isDirectory of [true, false])
        expect(rightsOfRule(access, abi, isDirectory) & ~rightsOfAbi(abi)).toBe(0n);
  });

  test('a ruleset has the fields of its ABI: ports from 4 on, scopes from 6 on, and neither where ports are not bounded', () => {
    const fields = (abi: number, boundsPorts = true) => rulesetOfAbi(abi, boundsPorts && abi >= 4).length / 8;
    expect([3, 4, 5, 6, 7].map((abi) => fields(abi))).toEqual([1, 2, 2, 3, 3]);
    expect(fields(7, false)).toBe(1);
    expect([rulesetOfAbi(7, true).readBigUInt64LE(8), rulesetOfAbi(7, true).readBigUInt64LE(16)]).toEqual([
      3n,
      1n,
    ]);
  });

  test('the least ABI lets files move between directories, without which the engine cannot work', () => {
    expect(rightsOfRule('own', LANDLOCK_ABI_MIN, true) & REFER).toBe(REFER);
    expect(rightsOfAbi(LANDLOCK_ABI_MIN - 1) & REFER).toBe(0n);
  });

  test('a file has no rights of directories, and nothing that is read or owned can be run', () => {
    for (const access of ACCESSES) expect(rightsOfRule(access, 7, false) & (READ_DIR | REFER)).toBe(0n);
    for (const access of ['read', 'own', 'use'] as const)
      expect(rightsOfRule(access, 7, true) & EXECUTE).toBe(0n);
  });
});
