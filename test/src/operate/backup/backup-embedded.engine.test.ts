import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedEngine, startEmbeddedEngine } from '../../../../clickhouse/embedded/supervisor.ts';
import { backupsDirOf } from '../../../../clickhouse/embedded/users.ts';
import type { Writer } from '../../../../clickhouse/engine/engine.ts';
import { createWriter } from '../../../../clickhouse/engine/http-engine.ts';
import { migrate } from '../../../../clickhouse/migrate/migrate.ts';
import { attachOrStartEngine, engineHome, makeEngineHome } from '../../../../src/attach-engine.ts';
import { backUp } from '../../../../src/operate/backup/backup.ts';
import { restore } from '../../../../src/operate/backup/restore.ts';
import { contentsOf, testBackup } from '../../../kit/backup.ts';
import { dropDatabase, testLog } from '../../../kit/engine.ts';
import { BASE, insertSettlements, reportChain, settlement } from '../../../kit/rows.ts';

/** Over the embedded engine behind its walls: of a service that runs, and one that the command starts for itself. */

const DATABASE = 'settlement_index';
const cleanups: (() => Promise<unknown> | unknown)[] = [];
let dataDir: string;

function newDirectory(name: string, place = tmpdir()): string {
  const directory = mkdtempSync(join(place, `settlement-index-${name}-`));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

beforeEach(() => {
  dataDir = newDirectory('data');
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function commandAt(directory: string): ReturnType<typeof testBackup>['deps'] {
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify({ dataDir: directory }));
  return testBackup(file).deps;
}

async function startService(): Promise<EmbeddedEngine> {
  const engine = await startEmbeddedEngine({
    dataDir: makeEngineHome({ dataDir }),
    database: DATABASE,
    maxMemoryMegabytes: 1024,
    log: testLog,
  });
  cleanups.push(() => engine.stop());
  return engine;
}

async function fill(writer: Writer, first: number): Promise<void> {
  await insertSettlements(
    writer,
    Array.from({ length: 40 }, (_, at) => settlement({ logIndex: first + at })),
  );
  await reportChain(writer, BASE);
}

/** Every file and directory is this process's: the same user can copy the backup elsewhere. */
function expectOurs(directory: string): void {
  const entries = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  expect(entries.length).toBeGreaterThan(20);
  const foreign = entries.filter((entry) => lstatSync(join(directory, entry)).uid !== process.geteuid?.());
  expect(foreign).toEqual([]);
}

test('while a service runs, onto its file system and onto another, then without it, a backup leaves the engine and comes back', async () => {
  const engine = await startService();
  await migrate(engine.access, testLog);
  const writer = createWriter(engine.access, testLog);
  cleanups.push(() => writer.close());
  await fill(writer, 0);
  const deps = commandAt(dataDir);
  const whole = newDirectory('whole');
  await backUp(deps, whole, { only: 'index' });
  await fill(writer, 100);
  // The system disk, where the data lies in memory, as it does in most runs of tests.
  const second = newDirectory('second', '/var/tmp');
  await backUp(deps, second, { base: whole });
  expect(readdirSync(backupsDirOf(engineHome({ dataDir })))).toEqual([]);
  await fill(writer, 200);
  const before = await contentsOf(writer);
  await writer.close();
  await engine.stop();

  const third = newDirectory('third');
  await backUp(deps, third, { base: second });
  for (const made of [whole, second, third]) expectOurs(join(made, 'engine'));
  expect(readdirSync(backupsDirOf(engineHome({ dataDir })))).toEqual([]);

  const target = newDirectory('target');
  const there = commandAt(target);
  await restore(there, third, {});
  const restored = await attachOrStartEngine(there.config, testLog);
  cleanups.push(() => restored.stop());
  const reader = createWriter(restored.access, testLog);
  cleanups.push(() => reader.close());
  expect(await contentsOf(reader)).toEqual(before);
});

test('a service that runs gets nothing put back, and its engine reaches no directory of the command', async () => {
  const engine = await startService();
  await migrate(engine.access, testLog);
  const made = newDirectory('made');
  await backUp(commandAt(dataDir), made, { only: 'index' });
  const system = createWriter({ ...engine.access, database: 'system' }, testLog);
  cleanups.push(() => system.close());
  await dropDatabase(system, DATABASE);
  await expect(restore(commandAt(dataDir), made, {})).rejects.toThrow('stop it, and restore then');
  expect(existsSync(join(made, 'manifest.json'))).toBe(true);
});
