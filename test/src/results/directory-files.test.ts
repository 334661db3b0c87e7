import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { directoryFiles } from '../../../src/results/directory-files.ts';
import { resultFilesContract } from './result-files.ts';

const blocked: string[] = [];
afterAll(() => {
  for (const root of blocked) rmSync(root, { force: true });
});

function openDirectory() {
  const root = mkdtempSync(join(tmpdir(), 'settlement-index-results-'));
  const directory = join(root, 'results');
  return { root, directory, files: directoryFiles(directory) };
}

resultFilesContract('a directory', async () => {
  const { root, directory, files } = openDirectory();
  return {
    files,
    stored: async () =>
      statSync(directory, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(directory),
    close: async () => {
      rmSync(root, { recursive: true, force: true });
      // In the way of the directory.
      writeFileSync(root, '');
      blocked.push(root);
    },
  };
});

test('only the owner may read it, and what a process left unfinished is removed', async () => {
  const { root, directory, files } = openDirectory();
  const name = 'b'.repeat(64);
  await files.write(name, Buffer.from('x'));
  expect([statSync(directory).mode & 0o777, statSync(join(directory, name)).mode & 0o777]).toEqual([
    0o700, 0o600,
  ]);
  const part = join(directory, `${name}.1.part`);
  writeFileSync(part, 'half');
  utimesSync(part, 1, 1);
  expect(await files.writtenUntil({ atMs: 60_000, limit: 9 })).toEqual([]);
  expect(readdirSync(directory)).toEqual([name]);
  rmSync(root, { recursive: true });
});
