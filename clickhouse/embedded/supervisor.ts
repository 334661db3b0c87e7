import { createServer, type Server } from 'node:net';
import { extname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import type { ChildExit } from '../../core/process/child-process.ts';
import { freePort } from '../../core/process/free-port.ts';
import { ChildStartError, type SupervisedChild, superviseChild } from '../../core/process/supervise.ts';
import { localDatabaseOf, publicDatabaseOf } from '../engine/databases.ts';
import type { EngineAccess } from '../engine/engine.ts';
import { engineMegabytes } from '../guest/memory.ts';
import { type EngineDirectory, makeEngineDirectory, removeAccessFile, writeAccessFile } from './directory.ts';
import { engineProgram } from './files.ts';
import type { HostBootstrap } from './host-bootstrap.ts';
import { EngineUnavailable, findEngineLibrary } from './library.ts';
import { decideUser } from './user.ts';
import { type ClusterFiles, type EngineUsers, randomQueryPath, randomUsers } from './users.ts';
import {
  ENGINE_ENVIRONMENT,
  type EngineWalls,
  hasFileWall,
  REPORT_MARK,
  readWalls,
  spellWalls,
} from './walls.ts';

export interface EmbeddedEngineOptions {
  /** The engine's own directory, created if missing. One engine at a time. */
  readonly dataDir: string;
  readonly database: string;
  /** Null: by the memory of the machine. */
  readonly maxMemoryMegabytes: number | null;
  /** Loopback port; a free one when absent. It stays the same across restarts. */
  readonly httpPort?: number;
  readonly nice?: number;
  /** Databases that the reader may read; by default `database` and its public views. `prefix_*` is allowed. */
  readonly readerDatabases?: readonly string[];
  /** Whether the engine keeps `system.query_log`, which grows with every query; for tests that check a query's usage. */
  readonly queryLog?: boolean;
  /**
   * Makes it a node of a cluster of engines on this machine. For tests: the password-less user that the engine itself needs can
   * log in over the native protocol too, so any process of the machine could.
   */
  readonly node?: ClusterNodeOptions;
  /** Directories outside its own that it may access: directories of a backup or restore. */
  readonly borrowed?: HostBootstrap['borrowed'];
  /** Walls to leave out, for tests of machines where they cannot be built. */
  readonly without?: readonly ('landlock' | 'own user' | 'sockets')[];
  readonly log: Log;
}

export interface ClusterNodeOptions extends ClusterFiles {
  /** All nodes have the same users. */
  readonly users: EngineUsers;
}

export interface EmbeddedEngine {
  /** Stays valid across restarts of the engine. */
  readonly access: EngineAccess;
  readonly version: string;
  /** The walls around the running engine. */
  walls(): EngineWalls;
  pid(): number | undefined;
  restarts(): number;
  /** Kills the engine (acknowledged inserts are safe) and resolves when a new one answers. */
  restart(): Promise<void>;
  /** Kills the engine (acknowledged inserts are safe) and resolves when it is gone. */
  stop(): Promise<void>;
}

/** How long a dying engine may still hold its lock and port, for example after a `kill -9` of its supervisor. */
const LOCK_WAIT_MS = 3_000;
/** A single start on a busy machine takes longer than the wait above. */
const LOCK_ATTEMPTS_MIN = 3;
const PROBE_TIMEOUT_MS = 2_000;
const ALIVE_TIMEOUT_MS = 5_000;
const RESTART_MAX_MS = 60_000;
const RESTART_POLL_MS = 25;

/**
 * Starts ClickHouse as a child process with its real HTTP interface on 127.0.0.1, behind the walls of walls.ts, and keeps it
 * running. Throws `EngineUnavailable` with a message for the operator when it cannot.
 */
export async function startEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const dataDir = resolve(options.dataDir);
  const library = findEngineLibrary();
  const users = options.node?.users ?? randomUsers();
  const port = options.httpPort ?? (await freePort());
  const origin = `http://127.0.0.1:${port}`;
  const queryPath = randomQueryPath();
  const url = `${origin}${queryPath}`;
  const directory = prepareDirectory(options, { dataDir, users, queryPath });
  const tcpPort = options.node?.tcpPort ?? null;
  const ownUser = userOf(options, { library, directory });
  // A node may ask itself like the others.
  const connects = options.node?.shards.flat() ?? [];
  const places = placesOf(options, { directory, ownUser });
  const bootstrap: HostBootstrap = { ...places, port, tcpPort, connects, library };

  let version = '';
  let walls: EngineWalls | null = null;
  let attempts = 0;
  const child = await superviseChild({
    name: 'engine',
    entry: new URL(`./launcher${extname(import.meta.url)}`, import.meta.url),
    bootstrap,
    // The engine does not report a port that it could not open.
    async prepare() {
      await refuseTakenPort(port);
      if (tcpPort !== null) await refuseTakenPort(tcpPort);
      directory.writeConfig();
    },
    async ready() {
      version = await probe(url, users, port);
      return walls !== null;
    },
    onReady: directory.removeConfig,
    alive: async () => (await fetch(`${origin}/ping`, { signal: AbortSignal.timeout(ALIVE_TIMEOUT_MS) })).ok,
    log: options.log,
    stopSignal: 'SIGKILL',
    environment: ENGINE_ENVIRONMENT,
    ...(options.nice === undefined ? {} : { nice: options.nice }),
    onErrorLine(line) {
      const report = readWalls(line, ownUser);
      if (report === null) options.log.debug({ line }, 'engine says');
      else walls = report;
    },
    retryFirstStart: (exit, elapsedMs) =>
      (isLocked(exit) || isPortTaken(exit)) && (++attempts < LOCK_ATTEMPTS_MIN || elapsedMs < LOCK_WAIT_MS),
  }).catch((error: unknown) => {
    directory.removeConfig();
    throw explain(error, { dataDir, port });
  });
  directory.removeStaleConfigs();
  const standing = (): EngineWalls => walls ?? NO_REPORT;
  writeAccessFile(dataDir, { url, ...users, walls: standing() });
  tell(options.log, standing(), { enginePid: child.pid, port, version });
  const { database } = options;
  return engineOf(child, { url, database, users, version, directory, walls: standing });
}

/** For the type only: an engine is ready only once it has reported. */
const NO_REPORT: EngineWalls = {
  landlock: { missing: 'it did not report' },
  ownUser: { missing: 'it did not report' },
  sockets: { missing: 'it did not report' },
  cleanEnvironment: false,
};

function tell(log: Log, walls: EngineWalls, facts: Readonly<Record<string, unknown>>): void {
  log.info({ ...facts, walls: spellWalls(walls) }, 'engine ready');
  if (!hasFileWall(walls))
    log.warn(
      { walls: spellWalls(walls) },
      'nothing keeps the engine from the files of this machine: SQL is for organizations only (docs/operators.md, "Walls around the engine")',
    );
}

/** The user that the engine runs as. Always the same one, so that its store has one owner. */
function userOf(
  { without = [] }: EmbeddedEngineOptions,
  { library, directory }: { readonly library: string; readonly directory: EngineDirectory },
): EngineWalls['ownUser'] {
  if (without.includes('own user')) return { missing: 'it was switched off' };
  const { dataDir, configRoot } = directory;
  return decideUser({ program: engineProgram(library), directories: [dataDir, configRoot] });
}

function placesOf(
  { without = [], borrowed = NOTHING_BORROWED }: EmbeddedEngineOptions,
  { directory, ownUser }: { readonly directory: EngineDirectory; readonly ownUser: EngineWalls['ownUser'] },
): Pick<HostBootstrap, 'path' | 'configFile' | 'own' | 'borrowed' | 'landlock' | 'sockets' | 'user'> {
  const { store, backups, configFile } = directory;
  const borrows = borrowed.read.length + borrowed.changed.length > 0;
  return {
    path: store,
    configFile,
    own: [backups],
    borrowed,
    landlock: !without.includes('landlock'),
    sockets: !without.includes('sockets'),
    user: 'id' in ownUser ? { id: ownUser.id, passesPermissions: borrows } : null,
  };
}

const NOTHING_BORROWED: HostBootstrap['borrowed'] = { read: [], changed: [] };

/** A node reads its local rows of a distributed table as the user who queried that table. */
function databasesOf({ database, node }: Pick<EmbeddedEngineOptions, 'database' | 'node'>): string[] {
  const whole = [database, publicDatabaseOf(database)];
  return node === undefined ? whole : [...whole, localDatabaseOf(database)];
}

function prepareDirectory(
  options: EmbeddedEngineOptions,
  {
    dataDir,
    users,
    queryPath,
  }: { readonly dataDir: string; readonly users: EngineUsers; readonly queryPath: string },
): EngineDirectory {
  try {
    const directory = makeEngineDirectory(dataDir, {
      database: options.database,
      users,
      queryPath,
      limits: { maxMemoryMegabytes: engineMegabytes(options.maxMemoryMegabytes) },
      readerDatabases: options.readerDatabases ?? databasesOf(options),
      queryLog: options.queryLog ?? false,
      cluster: options.node ?? null,
    });
    directory.writeConfig();
    return directory;
  } catch (cause) {
    throw new EngineUnavailable(
      `The data directory ${dataDir} cannot be written: ${messageOf(cause)}`,
      cause,
    );
  }
}

interface Started {
  readonly url: string;
  readonly database: string;
  readonly users: EngineUsers;
  readonly version: string;
  readonly directory: EngineDirectory;
  walls(): EngineWalls;
}

function engineOf(child: SupervisedChild, started: Started): EmbeddedEngine {
  const { url, database, users, version, directory, walls } = started;
  return {
    access: { url, database, ...users },
    version,
    walls,
    pid: () => child.pid,
    restarts: () => child.restarts,
    restart: () => restartChild(child),
    async stop() {
      removeAccessFile(directory.dataDir, { url });
      await child.stop();
      directory.removeConfig();
    },
  };
}

/** Kills the process; its supervisor then starts the next one. */
async function restartChild(child: SupervisedChild): Promise<void> {
  const before = child.restarts;
  if (child.state === 'ready' && child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
  const deadline = performance.now() + RESTART_MAX_MS;
  while (child.restarts === before || child.state !== 'ready') {
    if (child.state === 'stopped' || performance.now() > deadline)
      throw new EngineUnavailable('The engine did not come back after it was killed.');
    await sleep(RESTART_POLL_MS);
  }
}

/**
 * Returns the engine's version. The engine silently ignores a missing configuration file, so this logs in with the generated
 * password: success proves that users.xml is in force and that the port belongs to this engine.
 */
async function probe(url: string, { writer }: EngineUsers, port: number): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    body: "SELECT getServerPort('http_port'), version(), currentUser() FORMAT TSV",
    headers: {
      authorization: `Basic ${Buffer.from(`${writer.user}:${writer.password}`).toString('base64')}`,
    },
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  });
  const [answeredPort, version, user] = (await response.text()).trim().split('\t');
  if (response.ok && Number(answeredPort) === port && user === writer.user && version !== undefined)
    return version;
  throw new Error('not our engine yet');
}

async function refuseTakenPort(port: number): Promise<void> {
  await close(
    await listen(port).catch((cause: unknown) => {
      throw new Error(`${PORT_TAKEN}: ${messageOf(cause)}`, { cause });
    }),
  );
}

const PORT_TAKEN = 'port taken';

function listen(port: number): Promise<Server> {
  return new Promise((resolveServer, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolveServer(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((closed) => server.close(() => closed()));
}

function isLocked(exit: ChildExit): boolean {
  return exit.errorLines.some((line) => /Cannot lock file|already running/i.test(line));
}

function isPortTaken(exit: ChildExit): boolean {
  return exit.errorLines.some((line) => line.startsWith(PORT_TAKEN));
}

function isDiskFull(said: string): boolean {
  return /NOT_ENOUGH_SPACE|no space left|Cannot reserve/i.test(said);
}

function diskFull(dataDir: string, cause: unknown): EngineUnavailable {
  return new EngineUnavailable(`The disk of ${dataDir} is full; the engine cannot start.`, cause);
}

function explain(error: unknown, { dataDir, port }: { dataDir: string; port: number }): Error {
  if (!(error instanceof ChildStartError)) return new EngineUnavailable(messageOf(error), error);
  const said = error.exit.errorLines.filter((line) => !line.startsWith(REPORT_MARK)).join(' ');
  if (isLocked(error.exit)) {
    return new EngineUnavailable(
      `The data directory ${dataDir} is in use by another engine. Stop that process or choose another data directory.`,
      error,
    );
  }
  if (isPortTaken(error.exit)) {
    return new EngineUnavailable(`Port ${port} on 127.0.0.1 is taken by another process.`, error);
  }
  if (isDiskFull(said)) return diskFull(dataDir, error);
  return new EngineUnavailable(
    `The embedded engine did not start: ${said.slice(0, 1000) || error.message}`,
    error,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
