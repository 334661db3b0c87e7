import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { ZERO_HASH } from '../../../core/domain/account.ts';
import { UserError } from '../../../core/user-error.ts';
import { findColumns, kindOfColumns } from '../../../ingest/import/columns.ts';
import { findFiles, type ImportFile, rangeInName } from '../../../ingest/import/files.ts';
import { readParquetFooter } from '../../../ingest/import/footer.ts';
import { createImportProgress } from '../../../ingest/import/options.ts';
import {
  commonRanges,
  cutWindows,
  declaredRanges,
  groupFiles,
  withoutRanges,
} from '../../../ingest/import/plan.ts';
import type { StagedBlock } from '../../../ingest/import/staging.ts';
import { countBlocks, mergeRanges } from '../../../ingest/write/checkpoints.ts';

let directory = '';
afterEach(() => {
  if (directory !== '') rmSync(directory, { recursive: true, force: true });
  directory = '';
});

function file(fields: Partial<ImportFile>): ImportFile {
  return { path: 'a', kind: 'logs', bytes: 1, rows: 10, columns: {}, blocks: null, named: null, ...fields };
}

const range = fc
  .tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 40 }))
  .map(([from, length]) => ({ from, to: from + length }));

test.each([
  ['ethereum__logs__18000000_to_18000999.parquet', { from: 18_000_000, to: 18_000_999 }],
  ['/some/where/base__logs__usdc__00000000_to_00000099__v2.parquet', { from: 0, to: 99 }],
  ['base__logs__20_to_10.parquet', null],
  ['logs.parquet', null],
])('the range in the name %s is %j', (name, expected) => {
  expect(rangeInName(name)).toEqual(expected);
});

test('columns show the kind of a file, whatever the tool called them', () => {
  const bytes = (names: string[]) => new Map(names.map((name) => [name, 'bytes'] as const));
  expect(kindOfColumns(bytes(['log_index', 'address', 'data', 'transaction_hash']))).toBe('logs');
  expect(
    kindOfColumns(bytes(['hash', 'from_address', 'to_address', 'input', 'block_number', 'block_timestamp'])),
  ).toBe('transactions');
  expect(kindOfColumns(bytes(['number', 'hash', 'timestamp']))).toBe('blocks');
  expect(kindOfColumns(bytes(['block_number', 'balance']))).toBeNull();
});

test('of a file with several names for one column the preferred one is read', () => {
  const columns = new Map([
    ['hash', 'bytes'],
    ['transaction_hash', 'bytes'],
    ['block_number', 'integer'],
    ['from_address', 'bytes'],
    ['to_address', 'bytes'],
    ['input', 'bytes'],
  ] as const);
  const { found, problems } = findColumns('transactions', columns);
  expect(problems).toEqual([]);
  expect(found['transactionHash']?.name).toBe('transaction_hash');
});

test('no two groups hold blocks in common, and every file with rows is in one group', () => {
  fc.assert(
    fc.property(fc.array(range, { minLength: 1, maxLength: 40 }), (ranges) => {
      const files = ranges.map((blocks, index) => file({ path: String(index), blocks }));
      const groups = groupFiles(files, 15);
      expect(groups.flatMap((group) => group.files.map(({ path }) => path)).sort()).toEqual(
        files.map(({ path }) => path).sort(),
      );
      for (const [index, group] of groups.entries()) {
        const before = groups[index - 1];
        if (before) expect(group.blocks.from).toBeGreaterThan(before.blocks.to);
        for (const { blocks } of group.files)
          expect(blocks && blocks.from >= group.blocks.from && blocks.to <= group.blocks.to).toBe(true);
      }
    }),
  );
});

test('a file that tells no range makes one group of all', () => {
  const files = [
    file({ blocks: { from: 0, to: 9 } }),
    file({ blocks: { from: 90, to: 99 } }),
    file({ blocks: null }),
  ];
  expect(groupFiles(files, 1)).toHaveLength(1);
});

test('a declared range that the names of the log files do not contain is refused', () => {
  const files = [file({ named: { from: 0, to: 9 } }), file({ named: { from: 20, to: 29 } })];
  expect(declaredRanges(files, { fromBlock: null, toBlock: null })).toEqual([
    { from: 0, to: 9 },
    { from: 20, to: 29 },
  ]);
  expect(declaredRanges(files, { fromBlock: 22, toBlock: 25 })).toEqual([{ from: 22, to: 25 }]);
  expect(declaredRanges(files, { fromBlock: 5, toBlock: null })).toEqual([
    { from: 5, to: 9 },
    { from: 20, to: 29 },
  ]);
  expect(() => declaredRanges(files, { fromBlock: 5, toBlock: 25 })).toThrow('blocks 10–19');
  expect(() => declaredRanges(files, { fromBlock: 9, toBlock: 5 })).toThrow('above');
  expect(declaredRanges([file({}), ...files], { fromBlock: null, toBlock: null })).toBeNull();
});

test('common and left ranges together are the ranges again', () => {
  fc.assert(
    fc.property(fc.array(range), fc.array(range), (some, others) => {
      const merged = mergeRanges(some);
      const common = commonRanges(merged, mergeRanges(others));
      const left = withoutRanges(merged, others);
      expect(mergeRanges([...common, ...left])).toEqual(merged);
      expect(countBlocks(common) + countBlocks(left)).toBe(countBlocks(merged));
    }),
  );
});

const staged = (number: number, candidates: number): StagedBlock => ({
  number,
  hash: ZERO_HASH,
  time: 1,
  candidates,
  missingTransactions: 0,
  isContradicted: false,
});

test('windows are the ranges again, each block is in the window of its number, and no window but a block of its own is too large', () => {
  fc.assert(
    fc.property(
      fc.array(range, { maxLength: 6 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 350 })),
      (some, numbers) => {
        const ranges = mergeRanges(some);
        const blocks = numbers.sort((a, b) => a - b).map((number) => staged(number, 3));
        const windows = cutWindows(ranges, blocks, 7);
        expect(mergeRanges(windows)).toEqual(ranges);
        expect(countBlocks(windows)).toBe(countBlocks(ranges));
        const inside = blocks.filter(({ number }) =>
          ranges.some(({ from, to }) => from <= number && number <= to),
        );
        expect(windows.flatMap((window) => window.blocks)).toEqual(inside);
        for (const { from, to, blocks: members } of windows) {
          expect(members.every(({ number }) => from <= number && number <= to)).toBe(true);
          expect(members.length).toBeLessThanOrEqual(3);
        }
      },
    ),
  );
});

test('bytes that are no footer are refused by the name of their file and never hang', async () => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-import-'));
  const path = join(directory, 'random.parquet');
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      writeFileSync(path, asFooter(Buffer.from(bytes)));
      const outcome = await readParquetFooter(path).catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(UserError);
      if (outcome instanceof Error) expect(outcome.message).toContain(path);
    }),
    { numRuns: 2_000 },
  );
});

test('a footer with a number that does not end is refused before it costs time', async () => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-import-'));
  const path = join(directory, 'endless.parquet');
  // Field 3 of the file, the number of rows: as 64-bit, 200,000 bytes that each say that another one follows.
  writeFileSync(path, asFooter(Buffer.concat([Buffer.from([0x36]), Buffer.alloc(200_000, 0xff)])));
  await expect(readParquetFooter(path)).rejects.toThrow('does not end');
});

function asFooter(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([Buffer.from('PAR1'), bytes, length, Buffer.from('PAR1')]);
}

test('a file that is not Parquet is refused by its name', async () => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-import-'));
  for (const [name, text] of [
    ['short.parquet', 'PAR1'],
    ['other.parquet', 'this is a text, not a Parquet file'],
    ['cut.parquet', `PAR1${'x'.repeat(20)}\xff\xff\xff\x7fPAR1`],
    ['garbage.parquet', `PAR1${'\x01'.repeat(20)}\x10\x00\x00\x00PAR1`],
  ] as const) {
    const path = join(directory, name);
    writeFileSync(path, text, 'latin1');
    await expect(readParquetFooter(path)).rejects.toThrow(`${path} is not a Parquet file`);
  }
  await expect(readParquetFooter(join(directory, 'none.parquet'))).rejects.toThrow('cannot be opened');
});

test('patterns match inside one name, or any directories, and find each file once', async () => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-import-'));
  mkdirSync(join(directory, 'a/b'), { recursive: true });
  for (const name of ['1.parquet', 'a/2.parquet', 'a/b/3.parquet', 'a/b/3.csv', '.hidden.parquet'])
    writeFileSync(join(directory, name), '');
  const find = async (...patterns: string[]) =>
    (await findFiles(patterns.map((pattern) => join(directory, pattern)))).map((path) =>
      path.slice(directory.length + 1),
    );
  expect(await find('*.parquet')).toEqual(['1.parquet']);
  expect(await find('**/*.parquet', '1.parquet')).toEqual(['1.parquet', 'a/2.parquet', 'a/b/3.parquet']);
  expect(await find('?/2.parquet')).toEqual(['a/2.parquet']);
  expect(await find('none/*.parquet')).toEqual([]);
});

test('progress tells percent, rate and the time that is left', () => {
  let now = 0;
  const progress = createImportProgress(1_000, { nowMs: () => now });
  now = 2_000;
  progress.add(250);
  progress.wrote(7);
  expect(progress.line()).toBe('import 25.0 %, 125 logs/s, 7 settlements, ETA 6 s');
});
