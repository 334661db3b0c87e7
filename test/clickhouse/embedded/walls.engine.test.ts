import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accessFileOf, readAccessFile } from '../../../clickhouse/embedded/directory.ts';
import {
  type EmbeddedEngine,
  type EmbeddedEngineOptions,
  startEmbeddedEngine,
} from '../../../clickhouse/embedded/supervisor.ts';
import { ENGINE_USER_ID } from '../../../clickhouse/embedded/user.ts';
import { hasFileWall } from '../../../clickhouse/embedded/walls.ts';
import type { EngineUser } from '../../../clickhouse/engine/engine.ts';
import { createLog } from '../../../core/log.ts';
import { loadCursorKeys } from '../../../core/secret-file.ts';
import { engineHome, makeEngineHome } from '../../../src/attach-engine.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** Raw SQL of the guest, past the inspector, against a real engine: the walls behind the first one. */

const IS_ROOT = process.geteuid?.() === 0;
const OPEN_TO_ALL = ['/etc/hostname', '/etc/passwd', '/proc/self/environ'];
const FOREIGN = join(import.meta.dirname, '../../../package.json');

let dataDir: string;
let secrets: string[];
const engines: EmbeddedEngine[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-walls-'));
  loadCursorKeys({ cursorSecrets: [], dataDir });
  secrets = [join(dataDir, 'cursor.key'), accessFileOf(engineHome({ dataDir }))];
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(over: Partial<EmbeddedEngineOptions> = {}): Promise<EmbeddedEngine> {
  const engine = await startEmbeddedEngine({
    dataDir: makeEngineHome({ dataDir }),
    database: 'app',
    maxMemoryMegabytes: 1024,
    log: createLog('silent', 'test'),
    ...over,
  });
  engines.push(engine);
  return engine;
}

async function stop(engine: EmbeddedEngine): Promise<void> {
  engines.splice(engines.indexOf(engine), 1);
  await engine.stop();
}

async function ask({ access }: EmbeddedEngine, user: 'writer' | 'guest', query: string): Promise<string> {
  const { user: name, password }: EngineUser = access[user];
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const answer = await fetch(access.url, { method: 'POST', body: query, headers: { authorization } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text.trimEnd();
}

const readByGuest = (engine: EmbeddedEngine, path: string): Promise<string> =>
  ask(engine, 'guest', `SELECT length(file('${path}'))`);

async function expectClosed(engine: EmbeddedEngine, paths: readonly string[]): Promise<void> {
  for (const path of paths)
    await expect(readByGuest(engine, path), path).rejects.toThrow(/Cannot open file .*Permission denied/);
}

async function expectOpen(engine: EmbeddedEngine, paths: readonly string[]): Promise<void> {
  for (const path of paths) expect(Number(await readByGuest(engine, path)), path).toBeGreaterThan(0);
}

function pidOf(engine: EmbeddedEngine): number {
  const pid = engine.pid();
  if (pid === undefined) throw new Error('there is no engine');
  return pid;
}

const procOf = (engine: EmbeddedEngine, name: string): string =>
  readFileSync(`/proc/${pidOf(engine)}/${name}`, 'utf8');

/** Whose the files of the store are. */
function owners(directory = join(engineHome({ dataDir }), 'store')): Set<number> {
  const found = new Set([lstatSync(directory).uid]);
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const at = lstatSync(join(directory, entry), { throwIfNoEntry: false });
    if (at !== undefined) found.add(at.uid);
  }
  return found;
}

async function writeRows(engine: EmbeddedEngine): Promise<void> {
  await ask(engine, 'writer', 'CREATE DATABASE app');
  await ask(engine, 'writer', 'CREATE TABLE app.kept (n UInt64, s String) ENGINE = MergeTree ORDER BY n');
  await ask(engine, 'writer', 'INSERT INTO app.kept SELECT number, toString(number) FROM numbers(100000)');
}

const countRows = (engine: EmbeddedEngine): Promise<string> =>
  ask(engine, 'writer', 'SELECT count() FROM app.kept');

describe('what the guest can read with file()', () => {
  test('with all walls: nothing of the machine, nothing of the service', async () => {
    const engine = await start();
    expect(hasFileWall(engine.walls())).toBe(true);
    const supervisor = `/proc/${process.pid}/environ`;
    await expectClosed(engine, [...OPEN_TO_ALL, ...secrets, FOREIGN, supervisor]);
    // Of its own threads the engine must know what they use; their environment is the clean one.
    expect(await ask(engine, 'guest', "SELECT file('/proc/thread-self/environ')")).toBe('TZ=UTC\\0');
    await expectClosed(engine, ['/proc/thread-self/root/etc/passwd', '/proc/thread-self/cwd/package.json']);
    // Also by a way that leads out of its own directory.
    await expectClosed(engine, [join(engineHome({ dataDir }), 'store', '../access.json')]);
  });

  test('with Landlock alone: neither', async () => {
    const engine = await start({ without: ['own user'] });
    expect(engine.walls()).toMatchObject({
      landlock: { abi: expect.any(Number) },
      ownUser: { missing: expect.any(String) },
    });
    await expectClosed(engine, [...OPEN_TO_ALL, ...secrets, FOREIGN]);
  });

  test.runIf(IS_ROOT)('with a user of its own alone: no secret of the service', async () => {
    const engine = await start({ without: ['landlock'] });
    expect(engine.walls()).toMatchObject({
      landlock: { missing: expect.any(String) },
      ownUser: { id: ENGINE_USER_ID },
    });
    expect(hasFileWall(engine.walls())).toBe(true);
    await expectClosed(engine, [...secrets, `/proc/${process.pid}/environ`]);
    await expectOpen(engine, ['/etc/hostname']);
  });

  test('without walls, which the engine then says of itself, and the log with the reasons: everything', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const engine = await start({ without: ['landlock', 'own user'], log });
    expect(lines.join('')).toMatch(/no Landlock \(.*no user of its own \(.*SQL is for organizations only/);
    expect(hasFileWall(engine.walls())).toBe(false);
    expect(engine.walls().cleanEnvironment).toBe(true);
    await expectOpen(engine, [...OPEN_TO_ALL, ...secrets, FOREIGN]);
  });

  test('its configuration is not there to be read', async () => {
    const engine = await start();
    expect(readdirSync(join(engineHome({ dataDir }), 'config'))).toEqual([]);
    await expect(readByGuest(engine, join(engineHome({ dataDir }), 'config'))).rejects.toThrow(
      'Permission denied',
    );
  });
});

describe('the process', () => {
  test('the supervisor kills and waits for the engine itself, in an environment of its own', async () => {
    process.env['SECRET_OF_THE_SERVICE'] = 'not for SQL';
    try {
      const engine = await start();
      expect(procOf(engine, 'cmdline')).toContain('host.mjs');
      expect(procOf(engine, 'environ')).toBe('TZ=UTC\0');
      expect(engine.walls().cleanEnvironment).toBe(true);
    } finally {
      delete process.env['SECRET_OF_THE_SERVICE'];
    }
  });

  test.runIf(IS_ROOT)(
    'each of its threads is of its own user, without groups and capabilities, and can gain none',
    async () => {
      const engine = await start();
      const threads = readdirSync(`/proc/${pidOf(engine)}/task`);
      expect(threads.length).toBeGreaterThan(10);
      for (const thread of threads) {
        const status = procOf(engine, `task/${thread}/status`);
        expect(status).toMatch(new RegExp(`^Uid:(\\s+${ENGINE_USER_ID}){4}$`, 'm'));
        expect(status).toMatch(new RegExp(`^Gid:(\\s+${ENGINE_USER_ID}){4}$`, 'm'));
        expect(status).toMatch(/^Groups:\s*$/m);
        expect(status).toMatch(/^CapEff:\s+0+$/m);
        expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      }
    },
  );

  test('the access file names the walls that stand, for commands while the service runs', async () => {
    const engine = await start();
    expect(readAccessFile(engineHome({ dataDir }))?.walls).toEqual(engine.walls());
  });
});

describe('what a statement past the grants can connect to', () => {
  /** Each opens a connection, by another library of the engine. */
  const connecting = (port: number): readonly string[] => [
    `SELECT * FROM url('http://127.0.0.1:${port}/', 'LineAsString')`,
    `SELECT * FROM url('http://[::1]:${port}/', 'LineAsString')`,
    `SELECT * FROM s3('http://127.0.0.1:${port}/bucket/key', NOSIGN, 'LineAsString')`,
    `SELECT * FROM remote('127.0.0.1:${port}', 'system', 'one')`,
    `SELECT * FROM mysql('127.0.0.1:${port}', 'a', 'b', 'c', 'd')`,
    `SELECT * FROM postgresql('127.0.0.1:${port}', 'a', 'b', 'c', 'd')`,
  ];

  /** The writer has every right: what it cannot do, no hole in the guest's grants allows. */
  async function connectedBy(over: Partial<EmbeddedEngineOptions>): Promise<Map<string, string>> {
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '::', resolve));
    const { port } = listener.address() as AddressInfo; // of a server that listens on a port
    const engine = await start(over);
    const said = new Map<string, string>();
    for (const text of connecting(port)) {
      connections = 0;
      const limits =
        'SETTINGS http_max_tries = 1, connect_timeout = 1, s3_retry_attempts = 0, s3_max_connections = 1';
      const error = await ask(engine, 'writer', `${text} ${limits}`).catch(String);
      said.set(text, `${connections > 0} ${error}`);
    }
    await stop(engine);
    listener.close();
    return said;
  }

  test('is nothing, by Landlock and a filter of system calls together or by one of them', {
    timeout: 120_000,
  }, async () => {
    const engine = await start();
    expect(engine.walls().sockets).toEqual({ bounded: true });
    expect(procOf(engine, 'status')).toMatch(/^Seccomp:\s2$/m);
    await stop(engine);
    for (const without of [[], ['landlock']] as const)
      for (const [name, said] of await connectedBy({ without }))
        expect([name, said]).toEqual([name, expect.stringMatching(/^false .*(Permission denied|\(13\))/s)]);
  });

  test('is everything without the wall, which the engine then says of itself', {
    timeout: 120_000,
  }, async () => {
    const engine = await start({ without: ['sockets'] });
    expect(engine.walls().sockets).toEqual({ missing: 'it was switched off' });
    await stop(engine);
    const said = await connectedBy({ without: ['sockets'] });
    expect([...said].filter(([, text]) => !text.startsWith('true'))).toEqual([]);
  });
});

describe('behind its walls the engine', () => {
  test('writes, merges, mutates, sorts on disk, and has it all after a restart', async () => {
    const engine = await start();
    await writeRows(engine);
    await ask(engine, 'writer', 'INSERT INTO app.kept SELECT number, toString(number) FROM numbers(100000)');
    await ask(engine, 'writer', 'OPTIMIZE TABLE app.kept FINAL');
    await ask(
      engine,
      'writer',
      "ALTER TABLE app.kept UPDATE s = 'x' WHERE n < 10 SETTINGS mutations_sync = 1",
    );
    await ask(engine, 'writer', 'CREATE TABLE app.moved AS app.kept');
    await ask(engine, 'writer', 'ALTER TABLE app.kept MOVE PARTITION tuple() TO TABLE app.moved');
    await ask(engine, 'writer', 'RENAME TABLE app.kept TO app.old, app.moved TO app.kept');
    const spilled =
      'SELECT count() FROM (SELECT s FROM app.kept GROUP BY s, n ORDER BY s SETTINGS max_bytes_before_external_sort = 100000, max_bytes_before_external_group_by = 100000)';
    expect(await ask(engine, 'writer', spilled)).toBe('100000');
    await engine.restart();
    expect(await countRows(engine)).toBe('200000');
    expect(hasFileWall(engine.walls())).toBe(true);
  });

  test('finds what it needs however it is asked for: zones, collations, dictionaries of its own', async () => {
    const engine = await start();
    expect(
      await ask(
        engine,
        'writer',
        "SELECT toHour(toDateTime('2026-01-01 12:00:00', 'UTC') AT TIME ZONE 'Asia/Tokyo')",
      ),
    ).toBe('21');
    expect(await ask(engine, 'writer', "SELECT 'a' AS a ORDER BY a COLLATE 'de'")).toBe('a');
  });
});

describe.runIf(IS_ROOT)('the store and its user', () => {
  test('a store that root wrote opens with its rows as the engine’s own, and again as root’s', async () => {
    const before = await start({ without: ['own user'] });
    await writeRows(before);
    await stop(before);
    expect(owners()).toEqual(new Set([0]));
    const own = await start();
    expect(await countRows(own)).toBe('100000');
    await ask(own, 'writer', 'INSERT INTO app.kept SELECT number, toString(number) FROM numbers(5)');
    expect(owners()).toEqual(new Set([ENGINE_USER_ID]));
    await stop(own);
    const after = await start({ without: ['own user'] });
    expect(await countRows(after)).toBe('100005');
    await stop(after);
    expect(owners()).toEqual(new Set([0]));
  });

  test('a store in use does not change hands', async () => {
    const running = await start({ without: ['own user'] });
    await writeRows(running);
    await expect(start()).rejects.toThrow('is in use by another engine');
    expect(owners()).toEqual(new Set([0]));
    expect(await countRows(running)).toBe('100000');
  });

  test('where the way to it is closed to other users, the engine runs as root, and says which directory it is', async () => {
    const closed = join(dataDir, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o700);
    const engine = await start({ dataDir: join(closed, 'engine') });
    expect(engine.walls().ownUser).toEqual({ missing: `only root can pass ${closed}` });
    await expectClosed(engine, OPEN_TO_ALL);
    expect(lstatSync(closed).mode & 0o777).toBe(0o700);
  });
});

test('directories that it borrows are within reach, and no others', async () => {
  const lent = mkdtempSync(join(tmpdir(), 'settlement-index-lent-'));
  try {
    chmodSync(lent, 0o700);
    for (const name of ['read', 'changed', 'neither']) mkdirSync(join(lent, name), { mode: 0o700 });
    for (const name of ['read', 'changed', 'neither'])
      writeFileSync(join(lent, name, 'file'), 'content', { mode: 0o600 });
    const borrowed = { read: [join(lent, 'read')], changed: [join(lent, 'changed')] };
    const engine = await start({ borrowed });
    await expectOpen(engine, [join(lent, 'read/file'), join(lent, 'changed/file')]);
    await expectClosed(engine, [join(lent, 'neither/file'), ...OPEN_TO_ALL]);
  } finally {
    rmSync(lent, { recursive: true, force: true });
  }
});

test('an engine that is killed is gone, and the one that follows has the same walls', async () => {
  const engine = await start();
  const walls = engine.walls();
  const pid = pidOf(engine);
  process.kill(pid, 'SIGKILL');
  await waitUntil('another one runs', () => engine.pid() !== undefined && engine.pid() !== pid);
  await waitUntil('it answers', () =>
    readByGuest(engine, '/etc/hostname').then(
      () => true,
      (error: Error) => error.message.includes('Permission denied'),
    ),
  );
  expect(engine.walls()).toEqual(walls);
  await expectClosed(engine, secrets);
});
