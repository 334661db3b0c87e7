import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { groupOf } from '../../../../src/operate/backup/engine.ts';
import { readChain } from '../../../../src/operate/backup/engine-files.ts';
import { onDisk } from '../../../../src/operate/backup/engine-statements.ts';
import {
  checkFiles,
  digestFiles,
  type Manifest,
  readManifest,
  writeManifest,
} from '../../../../src/operate/backup/manifest.ts';
import { spellProgress, tellBytes } from '../../../../src/operate/backup/progress.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'settlement-index-manifest-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function manifest(fields: Partial<Manifest> = {}): Manifest {
  const empty = { engine: null, accounts: null, secrets: [], files: [] };
  return { format: 1, id: 'a-1', program: '0.1.0', madeAt: '2026-11-22T00:00:00.000Z', ...empty, ...fields };
}

function madeAt(name: string, fields: Partial<Manifest>): string {
  const directory = join(root, name);
  mkdirSync(directory);
  writeManifest(directory, manifest(fields));
  return directory;
}

function adding(base: Exclude<Manifest['engine'], null>['base']): Manifest['engine'] {
  return { place: 'here', disk: 'backups', version: '26', database: 'd', migrations: [], tables: [], base };
}

test('a manifest is read as it was written', () => {
  writeManifest(root, manifest({ secrets: ['cursor.key'] }));
  expect(readManifest(root)).toEqual(manifest({ secrets: ['cursor.key'] }));
});

test('a manifest that names a file outside its directory is damaged', () => {
  const files = [{ path: '../elsewhere', bytes: 1, sha256: '0'.repeat(64) }];
  writeManifest(root, manifest({ files }));
  expect(() => readManifest(root)).toThrow('is damaged');
});

test('a backup leads to the ones it adds to, and to no other', () => {
  const whole = madeAt('whole', { id: 'whole', engine: adding(null) });
  const added = madeAt('added', { id: 'added', engine: adding({ id: 'whole', directory: '../whole' }) });
  expect(readChain(added).map(({ directory }) => directory)).toEqual([added, whole]);
  writeManifest(whole, manifest({ id: 'another', engine: adding(null) }));
  expect(() => readChain(added)).toThrow('is not the backup whole');
  writeManifest(whole, manifest({ id: 'whole', engine: adding({ id: 'added', directory: '../added' }) }));
  expect(() => readChain(added)).toThrow('in a ring');
});

test('every file has a digest, and one that changed is named', async () => {
  mkdirSync(join(root, 'below'));
  writeFileSync(join(root, 'below', 'a'), 'one');
  writeFileSync(join(root, 'b'), 'two');
  const files = await digestFiles(root);
  expect(files.map(({ path, bytes }) => [path, bytes])).toEqual([
    ['b', 3],
    ['below/a', 3],
  ]);
  await checkFiles(root, files);
  writeFileSync(join(root, 'below', 'a'), 'onf');
  await expect(checkFiles(root, files)).rejects.toThrow('below/a');
});

test('progress is printed with the time that is left, and not too often', () => {
  expect(spellProgress({ done: 1_048_576, total: 4_194_304, seconds: 10 })).toBe(
    '1 of 4 MiB, 25 %, about 30 s left',
  );
  expect(spellProgress({ done: 5_242_880, total: 4_194_304, seconds: 10 })).toBe(
    '5 of 4 MiB, 100 %, about 0 s left',
  );
  expect(spellProgress({ done: 1_048_576, total: 0, seconds: 10 })).toBe('1 MiB');
  const lines: string[] = [];
  let now = 0;
  const told = tellBytes('copy', 0, { say: (line) => lines.push(line), isTerminal: true }, () => now);
  told.add(1_048_576);
  now = 1_500;
  told.add(1_048_576);
  told.add(1_048_576);
  expect(lines).toEqual(['copy: 2 MiB']);
});

test('records of finished work are copied before the work, marks after it', () => {
  const tables = ['checkpoints', 'rollup_state', 'settlements', 'some_new_table', 'hour_ver'];
  expect(tables.map(groupOf)).toEqual(['checkpoints', 'done', 'rows', 'rows', 'marks']);
});

test('a place on a disk is never text of others', () => {
  expect(onDisk({ disk: 'backups', path: '20261122-1/rows' })).toBe("Disk('backups', '20261122-1/rows')");
  expect(() => onDisk({ disk: "b', 'x", path: 'a' })).toThrow(TypeError);
  expect(() => onDisk({ disk: 'b', path: '../a' })).toThrow(TypeError);
});
