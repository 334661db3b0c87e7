import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSnapshot, printSnapshot, type Snapshot, snapshotTime } from '../../../core/domain/snapshot.ts';

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits });
const block = fc.nat({ max: 999_999_999_999 });
const snapshot: fc.Arbitrary<Snapshot> = fc.record({
  revision: fc.nat({ max: 999_999_999 }),
  ladder: hex(8),
  version: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  chains: fc
    .uniqueArray(
      fc.record({
        chain: fc.integer({ min: 1, max: 999_999_999 }).map((number) => `eip155:${number}` as const),
        blocks: fc.tuple(block, block),
        contracts: hex(16),
      }),
      { minLength: 1, maxLength: 20, selector: ({ chain }) => chain },
    )
    .map((chains) =>
      chains
        .map(({ blocks: [a, b], ...rest }) => ({ ...rest, from: Math.min(a, b), to: Math.max(a, b) }))
        .sort((a, b) => (a.chain < b.chain ? -1 : 1)),
    ),
});

test('a snapshot that was printed is read as it was', () => {
  fc.assert(
    fc.property(snapshot, (one) => {
      expect(parseSnapshot(printSnapshot(one))).toEqual(one);
    }),
  );
});

test('a text that was read is printed as it was, so that a state has one text', () => {
  const changed = fc
    .tuple(snapshot.map(printSnapshot), fc.nat(), fc.constantFrom(...'0123456789abcdef_-r '))
    .map(([text, at, unit]) => text.slice(0, at % text.length) + unit + text.slice((at % text.length) + 1));
  fc.assert(
    fc.property(changed, (text) => {
      const read = parseSnapshot(text);
      if (read !== null) expect(parseSnapshot(printSnapshot(read))).toEqual(read);
    }),
  );
});

test.each([
  '',
  's2_r1_0b9f4a31_1_8453-1-2-5d0c1f0a7e2b9c44',
  's1_r1_0b9f4a31_1',
  's1_r1_0b9f4a31_1_8453-3-2-5d0c1f0a7e2b9c44',
  's1_r1_0b9f4a31_1_8453-1-2-5d0c1f0a7e2b9c44_137-1-2-5d0c1f0a7e2b9c44_137-1-2-5d0c1f0a7e2b9c44',
  's1_r1_0b9f4a31_99999999999999999999_8453-1-2-5d0c1f0a7e2b9c44',
])('%j is no snapshot', (text) => {
  expect(parseSnapshot(text)).toBeNull();
});

test('says when it was', () => {
  const text = 's1_r12_0b9f4a31_1795166103000000000_8453-29000000-38411402-5d0c1f0a7e2b9c44';
  const read = parseSnapshot(text);
  expect(read === null ? null : snapshotTime(read)).toBe(1_795_166_103);
});
