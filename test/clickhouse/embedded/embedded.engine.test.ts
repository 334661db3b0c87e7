import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeEngineDirectory } from '../../../clickhouse/embedded/directory.ts';
import { findEngineLibrary } from '../../../clickhouse/embedded/library.ts';
import { type EmbeddedEngine, startEmbeddedEngine } from '../../../clickhouse/embedded/supervisor.ts';
import { randomUsers } from '../../../clickhouse/embedded/users.ts';
import type { EngineUser, Reader, Writer } from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { guestMemoryBytes, MEMORY_SHARES_MAX } from '../../../clickhouse/guest/memory.ts';
import { GUEST_ROWS_MAX } from '../../../clickhouse/guest/settings.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { createLog } from '../../../core/log.ts';
import { isRunning, waitUntil } from '../../kit/wait-until.ts';

const log = createLog('silent', 'test');
const bounds = { name: 'test', maxSeconds: 20, maxRows: 100 };
const MAX_MEMORY_MEGABYTES = 1024;
const GUEST_BYTES_MAX =
  MEMORY_SHARES_MAX * guestMemoryBytes(MAX_MEMORY_MEGABYTES * 1024 ** 2, availableParallelism());

let dataDir: string;
let engine: EmbeddedEngine;
let writer: Writer;
let reader: Reader;

function startAgain(directory: string, httpPort?: number): Promise<EmbeddedEngine> {
  return startEmbeddedEngine({
    dataDir: directory,
    database: 'app',
    maxMemoryMegabytes: MAX_MEMORY_MEGABYTES,
    log,
    ...(httpPort === undefined ? {} : { httpPort }),
  });
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-embedded-'));
  engine = await startAgain(dataDir);
  await migrate(engine.access, log);
  writer = createWriter(engine.access, log);
  reader = createReader(engine.access, log);
  await writer.run({
    ...bounds,
    sql: sql`CREATE TABLE numbers_kept (n UInt64) ENGINE = MergeTree ORDER BY n`,
  });
});

afterAll(async () => {
  await Promise.all([reader?.close(), writer?.close()]);
  await engine?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Kills the engine and resolves when another process has taken its place. */
async function killEngine(): Promise<void> {
  const before = engine.pid();
  if (before === undefined) throw new Error('there is no engine to kill');
  const restarts = engine.restarts();
  process.kill(before, 'SIGKILL');
  await waitUntil(
    'the engine is being restarted',
    () => engine.restarts() > restarts && engine.pid() !== before,
  );
}

async function countKept(): Promise<number> {
  const { rows } = await reader.rows({ ...bounds, sql: sql`SELECT toUInt32(count()) FROM numbers_kept` });
  return Number(rows[0]?.[0]);
}

const recovered = () =>
  reader.ping().then(
    () => true,
    () => false,
  );

/** The keep-alive statement that runs now; the local session shows no user name. */
async function keepAlive(): Promise<unknown> {
  const { rows } = await writer.rows({
    ...bounds,
    sql: sql`SELECT query_id FROM system.processes WHERE user = ''`,
  });
  return rows[0]?.[0];
}

describe('kill -9 of the engine', () => {
  test('an acknowledged insert survives, at the same address and without a new login', async () => {
    const row = Buffer.alloc(8);
    row.writeBigUInt64LE(42n);
    await writer.insert('keep', 'numbers_kept', ['n'], [row]);
    const before = await countKept();
    await killEngine();
    await waitUntil('the reader recovers by itself', recovered);
    expect(await countKept()).toBe(before);
    await writer.insert('keep', 'numbers_kept', ['n'], [row]);
    expect(await countKept()).toBe(before + 1);
  });

  test('an unfiltered KILL QUERY does not end the listener', async () => {
    const pid = engine.pid();
    for (let kills = 0; kills < 3; kills++) {
      const before = await keepAlive();
      expect(before).toBeTypeOf('string');
      await writer.run({ ...bounds, sql: sql`KILL QUERY WHERE user = '' SYNC` });
      await waitUntil('the next keep-alive statement runs', () =>
        keepAlive().then(
          (now) => now !== undefined && now !== before,
          () => false,
        ),
      );
    }
    expect(engine.pid()).toBe(pid);
  });
});

async function ask(
  user: EngineUser | null,
  query: string,
  search = '',
): Promise<{ ok: boolean; text: string }> {
  const headers =
    user === null
      ? {}
      : { authorization: `Basic ${Buffer.from(`${user.user}:${user.password}`).toString('base64')}` };
  const response = await fetch(`${engine.access.url}${search}`, { method: 'POST', body: query, headers });
  return { ok: response.ok, text: await response.text() };
}

describe('users', () => {
  const forbidden = [
    'INSERT INTO app.numbers_kept VALUES (1)',
    'CREATE TABLE app.mine (n UInt8) ENGINE = Memory',
    'DROP TABLE app.numbers_kept',
    'ALTER TABLE app.numbers_kept DELETE WHERE 1',
    'TRUNCATE TABLE app.numbers_kept',
    'SYSTEM SHUTDOWN',
    'SYSTEM STOP LISTEN HTTP',
    'SYSTEM STOP MERGES app.settlements',
    "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
    "SELECT * FROM file('/etc/hostname', 'LineAsString')",
    "SELECT * FROM remote('127.0.0.1:1', 'system.one')",
    'SELECT count() FROM system.users',
    'SELECT count() FROM system.server_settings',
  ];

  test.each(forbidden)('the reader cannot: %s', async (query) => {
    const { ok, text } = await ask(engine.access.reader, query);
    expect(text).toMatch(/ACCESS_DENIED|READONLY|Not enough privileges/);
    expect(ok).toBe(false);
  });

  const guestForbidden = [
    ...forbidden,
    'CREATE TEMPORARY TABLE mine (n UInt8)',
    "SELECT * FROM format(CSV, '1')",
    'SELECT count() FROM app.settlements',
    'SELECT count() FROM app.wallet_rows',
    'SELECT count() FROM system.processes',
    'SELECT count() FROM system.parts',
    'SELECT count() FROM system.disks',
    'SELECT 1 SETTINGS max_execution_time = 901',
    'SELECT 1 SETTINGS max_execution_time = 0',
    'SELECT 1 SETTINGS limit = 1000002',
    'SELECT 1 SETTINGS limit = 0',
    `SELECT 1 SETTINGS max_memory_usage = ${GUEST_BYTES_MAX + 1}`,
    'SELECT 1 SETTINGS readonly = 0',
    'SET max_threads = 65',
  ];

  test.each(guestForbidden)('the guest cannot: %s', async (query) => {
    const { ok, text } = await ask(engine.access.guest, query);
    expect(text).toMatch(/ACCESS_DENIED|READONLY|SETTING_CONSTRAINT_VIOLATION|Not enough privileges/);
    expect(ok).toBe(false);
  });

  test('the guest reads the public database and nothing lists the physical tables to it', async () => {
    await writer.run({ ...bounds, sql: sql`CREATE VIEW app_public.seen AS SELECT 7 AS n` });
    expect((await ask(engine.access.guest, 'SELECT n FROM app_public.seen')).text).toBe('7\n');
    const listed = await ask(engine.access.guest, "SELECT count() FROM system.tables WHERE database = 'app'");
    expect(listed.text).toBe('0\n');
  });

  test('the guest gets no more rows than the pinned limit, and may ask for fewer', async () => {
    const rowsOf = async (query: string) =>
      (await ask(engine.access.guest, query)).text.trimEnd().split('\n').length;
    expect(await rowsOf('SELECT number FROM numbers(2000000)')).toBe(GUEST_ROWS_MAX);
    expect(await rowsOf('SELECT number FROM numbers(2000000) SETTINGS limit = 3')).toBe(3);
  });

  test.each(['writer', 'reader', 'guest'] as const)('%s needs its password', async (name) => {
    const { ok, text } = await ask({ user: name, password: 'wrong' }, 'SELECT 1');
    expect(ok).toBe(false);
    expect(text).toContain('AUTHENTICATION_FAILED');
  });

  const asDefault = [
    '',
    '?user=default',
    '?us%65r=default&password=',
    'play',
    'dashboard',
    '?query=SELECT%201',
  ];

  test.each(asDefault)('the password-less user cannot log in: /%s', async (path) => {
    const { origin } = new URL(engine.access.url);
    for (const headers of [
      {},
      { 'x-clickhouse-user': 'default' },
      { authorization: `Basic ${btoa('default:')}` },
    ]) {
      const answers = await Promise.all([
        fetch(`${origin}/${path}`, { headers }),
        fetch(`${origin}/${path}`, { method: 'POST', body: "SELECT file('/etc/hostname')", headers }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    }
  });

  test('the address for queries is not in what the service logs or answers', async () => {
    const { origin, pathname } = new URL(engine.access.url);
    expect(pathname.length).toBeGreaterThan(30);
    expect(await (await fetch(`${origin}/nothing`)).text()).not.toContain(pathname);
  });
});

describe('configuration', () => {
  test('memory and fsync limits are in force', async () => {
    const { text } = await ask(
      engine.access.writer,
      `SELECT name, value FROM system.server_settings WHERE name = 'max_server_memory_usage'
       UNION ALL SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', 'fsync_part_directory')`,
    );
    expect(text.trim().split('\n').sort()).toEqual([
      'fsync_after_insert\t1',
      'fsync_part_directory\t1',
      `max_server_memory_usage\t${MAX_MEMORY_MEGABYTES * 1024 * 1024}`,
    ]);
  });

  test('its files are there while it starts, and neither they nor passwords are once it runs', async () => {
    expect(readdirSync(join(dataDir, 'config'))).toEqual([]);
    await killEngine();
    await waitUntil('the reader recovers by itself', recovered);
    await waitUntil('the files are gone again', () => readdirSync(join(dataDir, 'config')).length === 0);
  });

  test('no password is in them, and only one user can read them', () => {
    const directory = mkdtempSync(join(tmpdir(), 'settlement-index-config-'));
    const users = randomUsers();
    const { configFile, writeConfig, removeConfig } = makeEngineDirectory(directory, {
      database: 'app',
      users,
      queryPath: '/secret',
      limits: { maxMemoryMegabytes: 1 },
      readerDatabases: ['app'],
      queryLog: false,
      cluster: null,
    });
    writeConfig();
    for (const path of [configFile, join(dirname(configFile), 'users.xml')]) {
      expect(statSync(path).mode & 0o777).toBe(0o600);
      for (const { password } of Object.values(users))
        expect(readFileSync(path, 'utf8')).not.toContain(password);
    }
    removeConfig();
    expect(existsSync(configFile)).toBe(false);
    rmSync(directory, { recursive: true });
  });

  test('the engine listens on loopback only', async () => {
    const port = Number(new URL(engine.access.url).port);
    const other = createServer();
    // Binding every other loopback address succeeds only when the engine did not take the wildcard address.
    await new Promise<void>((resolve, reject) =>
      other.once('error', reject).listen(port, '127.0.0.2', resolve),
    );
    other.close();
  });
});

describe('what cannot start says why', () => {
  test('a second engine in the same directory, and the first one goes on, also after a restart', async () => {
    await expect(startAgain(dataDir)).rejects.toMatchObject({
      message: `The data directory ${dataDir} is in use by another engine. Stop that process or choose another data directory.`,
      // It ended itself. A crash instead of that may hang in the engine's crash handler and leave an orphan.
      cause: { exit: { signal: 'SIGKILL' } },
    });
    await reader.ping();
    await killEngine();
    await waitUntil('the reader recovers with the same login', recovered);
  });

  test('a port that is taken', async () => {
    const taken = Number(new URL(engine.access.url).port);
    const directory = mkdtempSync(join(tmpdir(), 'settlement-index-port-'));
    try {
      await expect(startAgain(directory, taken)).rejects.toThrow(
        `Port ${taken} on 127.0.0.1 is taken by another process.`,
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test('a platform without a build', () => {
    expect(() => findEngineLibrary('win32-x64')).toThrow(
      'The embedded engine has no build for win32-x64. Set CLICKHOUSE_URL to use a ClickHouse server instead.',
    );
  });
});

test('an engine waits for one that is about to end', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-wait-'));
  const lines: string[] = [];
  const listening = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const first = await startAgain(directory);
  const second = startEmbeddedEngine({
    dataDir: directory,
    database: 'app',
    maxMemoryMegabytes: MAX_MEMORY_MEGABYTES,
    log: listening,
  });
  try {
    await waitUntil('the second one has met the lock', () =>
      lines.some((line) => line.includes('Cannot lock file')),
    );
  } finally {
    await first.stop();
    await (await second).stop();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('the engine ends with its supervisor, and the next one opens the same directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-orphan-'));
  const script = fileURLToPath(new URL('../../kit/engine-owner.ts', import.meta.url));
  const owner = spawn(process.execPath, ['--import', 'tsx', script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await createInterface({ input: owner.stdout })
      [Symbol.asyncIterator]()
      .next()
      .then(({ value }) => [value]);
    const pid = Number(line);
    expect(isRunning(pid)).toBe(true);
    owner.kill('SIGKILL');
    const next = await startAgain(directory); // at once: it waits for the dying engine's lock
    expect(isRunning(pid)).toBe(false);
    await next.stop();
  } finally {
    owner.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
});
