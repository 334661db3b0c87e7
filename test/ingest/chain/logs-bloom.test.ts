import { expect, test } from 'vitest';
import { createBlooms, isEmptyBloom } from '../../../ingest/chain/logs-bloom.ts';

/** go-ethereum core/types/bloom9_test.go, TestBloom: these texts are in, those are not. */
const inBloom = ['testtest', 'test', 'hallo', 'other'].map(hex);
const notInBloom = ['tes', 'lo'].map(hex);

function hex(text: string): string {
  return `0x${Buffer.from(text).toString('hex')}`;
}

test('go-ethereum’s own examples are found, and its counter-examples are not', () => {
  const blooms = createBlooms();
  const bloom = blooms.of(inBloom.map((address) => ({ address, topics: [] })));
  for (const item of inBloom) expect(blooms.mayContain(bloom, [item], [item])).toBe(true);
  for (const item of notInBloom) expect(blooms.mayContain(bloom, [item], [item])).toBe(false);
});

test('the known positions of one item are set: 1343, 468 and 1323 for "testtest"’s neighbour in the yellow paper’s sense', () => {
  // keccak256("") = c5d2 4601 86f7 …: the low 11 bits of the first three pairs are 0x5d2, 0x601 and 0x6f7.
  const bloom = Buffer.from(
    createBlooms()
      .of([{ address: '0x', topics: [] }])
      .slice(2),
    'hex',
  );
  const set: number[] = [];
  for (let bit = 0; bit < 2048; bit++) if (((bloom[255 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1) set.push(bit);
  expect(set).toEqual([0x5d2, 0x601, 0x6f7]);
});

test('no logs make the empty filter', () => {
  expect(isEmptyBloom(createBlooms().of([]))).toBe(true);
  expect(isEmptyBloom(createBlooms().of([{ address: '0x01', topics: [] }]))).toBe(false);
});

test('both a contract and an event must be there for a block to be of interest', () => {
  const blooms = createBlooms();
  const bloom = blooms.of([{ address: '0xaa', topics: ['0xbb'] }]);
  expect(blooms.mayContain(bloom, ['0xaa', '0xcc'], ['0xdd', '0xbb'])).toBe(true);
  expect(blooms.mayContain(bloom, ['0xaa'], ['0xdd'])).toBe(false);
  expect(blooms.mayContain(bloom, ['0xcc'], ['0xbb'])).toBe(false);
});

test('more distinct items than the cache holds give the same filter', () => {
  const blooms = createBlooms();
  const logs = Array.from({ length: 25_000 }, (_, index) => ({
    address: `0x${index.toString(16).padStart(8, '0')}`,
    topics: [],
  }));
  const some = logs.slice(0, 3);
  const before = blooms.of(some);
  blooms.of(logs);
  expect(blooms.of(some)).toBe(before);
});
