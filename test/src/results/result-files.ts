import { createHash, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { type ResultFiles, ResultFilesUnavailable } from '../../../src/results/result-files.ts';

export interface OpenedFiles {
  readonly files: ResultFiles;
  /** Names of all that is stored, as the storage itself has it. */
  stored(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const nameOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The contract of `ResultFiles`, over whatever `open` gives. */
export function resultFilesContract(name: string, open: () => Promise<OpenedFiles>): void {
  const opened: OpenedFiles[] = [];
  const fresh = async (): Promise<OpenedFiles> => {
    const one = await open();
    opened.push(one);
    return one;
  };
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  describe(name, () => {
    test.each([0, 1, 70_000, 3_000_000])('gives back the %i bytes that were written', async (size) => {
      const { files, stored } = await fresh();
      const bytes = randomBytes(size);
      await files.write(nameOf(bytes), bytes);
      expect((await files.read(nameOf(bytes)))?.equals(bytes)).toBe(true);
      expect(await stored()).toEqual([nameOf(bytes)]);
    });

    test('has nothing under a name that was not written', async () => {
      const { files } = await fresh();
      expect(await files.read('0'.repeat(64))).toBeNull();
      await files.remove('0'.repeat(64));
      expect(await files.writtenUntil({ atMs: Date.now() + 60_000, limit: 9 })).toEqual([]);
    });

    test('may be written many times at once, and is one whole file', async () => {
      const { files, stored } = await fresh();
      const bytes = randomBytes(500_000);
      const reads = Array.from({ length: 8 }, async () => {
        await files.write(nameOf(bytes), bytes);
        return files.read(nameOf(bytes));
      });
      for (const read of await Promise.all(reads)) expect(read?.equals(bytes)).toBe(true);
      expect(await stored()).toEqual([nameOf(bytes)]);
    });

    test('a file that was removed is gone', async () => {
      const { files, stored } = await fresh();
      const bytes = randomBytes(10);
      await files.write(nameOf(bytes), bytes);
      await files.remove(nameOf(bytes));
      expect([await files.read(nameOf(bytes)), await stored()]).toEqual([null, []]);
    });

    test('lists what was written until a time, and no more than was asked for', async () => {
      const { files } = await fresh();
      const written = [1, 2, 3].map(() => randomBytes(10));
      for (const bytes of written) await files.write(nameOf(bytes), bytes);
      const later = Date.now() + 60_000;
      expect((await files.writtenUntil({ atMs: later, limit: 9 })).toSorted()).toEqual(
        written.map(nameOf).toSorted(),
      );
      expect(await files.writtenUntil({ atMs: later, limit: 2 })).toHaveLength(2);
      expect(await files.writtenUntil({ atMs: Date.now() - 60_000, limit: 9 })).toEqual([]);
    });

    test('gives back any part of a file alone, and says what all files take', async () => {
      const { files } = await fresh();
      expect((await files.room()).usedBytes).toBe(0);
      const written = [randomBytes(70_000), randomBytes(3)];
      for (const bytes of written) await files.write(nameOf(bytes), bytes);
      for (const bytes of written)
        for (const [from, to] of [
          [0, 1],
          [1, 3],
          [0, bytes.length],
          [bytes.length - 2, bytes.length],
        ] as const)
          expect((await files.read(nameOf(bytes), { from, to }))?.toString('hex')).toBe(
            bytes.subarray(from, to).toString('hex'),
          );
      expect(await files.read('0'.repeat(64), { from: 0, to: 1 })).toBeNull();
      expect((await files.room()).usedBytes).toBe(70_003);
    });

    test.each(['..', '../x', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}/x`, ''])(
      'takes no name that is no digest: %j',
      async (wrong) => {
        const { files, stored } = await fresh();
        const calls: readonly (() => Promise<unknown>)[] = [
          () => files.write(wrong, Buffer.alloc(1)),
          () => files.read(wrong),
          () => files.remove(wrong),
        ];
        for (const call of calls)
          await expect(Promise.resolve().then<unknown>(call)).rejects.toThrow(TypeError);
        expect(await stored()).toEqual([]);
      },
    );

    test('a storage that does not answer is said so, without its place', async () => {
      const one = await fresh();
      await one.close();
      opened.splice(0);
      const failure = await one.files.write('a'.repeat(64), Buffer.alloc(9)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ResultFilesUnavailable);
      expect(String(failure) + String((failure as Error).cause)).not.toMatch(/\/tmp|127\.0\.0\.1|localhost/);
    });
  });
}
