import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readAccessFile, writeAccessFile } from '../../../clickhouse/embedded/directory.ts';
import { startEmbeddedEngine } from '../../../clickhouse/embedded/supervisor.ts';
import { createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { createLog } from '../../../core/log.ts';
import { attachOrStartEngine } from '../../../src/attach-engine.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const log = createLog('silent', 'test');
let dataDir: string;
const cleanups: (() => Promise<void>)[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-attach-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  rmSync(dataDir, { recursive: true, force: true });
});

const engineDir = () => join(dataDir, 'clickhouse');
const accessFile = () => join(engineDir(), 'access.json');

async function startServiceEngine() {
  const engine = await startEmbeddedEngine({
    dataDir: engineDir(),
    database: 'app',
    maxMemoryMegabytes: 1024,
    log,
  });
  cleanups.push(() => engine.stop());
  return engine;
}

async function attach() {
  const engine = await attachOrStartEngine(loadConfig({ env: { DATA_DIR: dataDir } }), log);
  cleanups.push(() => engine.stop());
  return engine;
}

async function answers(access: Parameters<typeof createWriter>[0]): Promise<boolean> {
  const writer = createWriter({ ...access, database: 'system' });
  try {
    await writer.ping();
    return true;
  } catch {
    return false;
  } finally {
    await writer.close();
  }
}

test('a command uses the engine of the running service, and leaves it running', async () => {
  const service = await startServiceEngine();
  const command = await attach();
  expect(command.access.url).toBe(service.access.url);
  expect(command.access.database).toBe('settlement_index');
  await command.stop();
  expect(await answers(service.access)).toBe(true);
});

test('the access file is readable by its owner only, and gone when the engine is stopped', async () => {
  const service = await startServiceEngine();
  expect(statSync(accessFile()).mode & 0o777).toBe(0o600);
  expect(statSync(engineDir()).mode & 0o066).toBe(0);
  await service.stop();
  expect(existsSync(accessFile())).toBe(false);
});

test('what a killed service left behind is no engine: the command starts its own and ends it', async () => {
  const service = await startServiceEngine();
  const left = readAccessFile(engineDir());
  await service.stop();
  if (left === null) throw new Error('the engine wrote no access file');
  writeAccessFile(engineDir(), left);
  const command = await attach();
  expect(command.access.url).not.toBe(left.url);
  expect(await answers(command.access)).toBe(true);
  await command.stop();
  expect(await answers(command.access)).toBe(false);
});

test('a command that comes while the service is still starting gets the engine of the service', async () => {
  const service = await startServiceEngine();
  renameSync(accessFile(), `${accessFile()}.later`);
  const attaching = attach();
  await waitUntil(
    'the command tries to start an engine',
    () => readdirSync(join(engineDir(), 'config')).length === 1,
  );
  renameSync(`${accessFile()}.later`, accessFile());
  expect((await attaching).access.url).toBe(service.access.url);
});
