import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { becomeUser, callLibc, LibcError } from './become-user.ts';
import { belongsTo, giveTo } from './directory.ts';
import { engineRules, ffiLibrary, HOST_SCRIPT, mappedFiles } from './files.ts';
import { type HostBootstrap, parseBootstrap } from './host-bootstrap.ts';
import { confineThisThread, keepOpen, landlockAbi } from './landlock.ts';
import { boundSockets } from './seccomp.ts';
import { REPORT_MARK } from './walls.ts';

/**
 * Builds the walls around the engine and becomes it. Landlock confines only the calling thread, and Node already has others, so the
 * host is executed instead of loaded: the process keeps its id, pipes and parent, and all threads of the new program are confined.
 * The supervisor's child is therefore the engine itself.
 */

const STDIN = 0;
const STDIO = [0, 1, 2];
const NEWLINE = 10;
const BOOTSTRAP_MAX_BYTES = 1024 * 1024;

/** Does not use `process.stdin`, which reads ahead: the rest of the pipe belongs to the host. */
function readBootstrapLine(): string {
  const line = Buffer.alloc(BOOTSTRAP_MAX_BYTES);
  for (let length = 0; length < line.length; length += 1) {
    if (readSync(STDIN, line, length, 1, null) === 0) break;
    if (line[length] === NEWLINE) return line.toString('utf8', 0, length);
  }
  throw new Error('the launcher of the engine was started without its bootstrap line');
}

async function main(): Promise<void> {
  const bootstrap = parseBootstrap(JSON.parse(readBootstrapLine()));
  const { path, configFile, port, tcpPort, library } = bootstrap;
  const start = { reportMark: REPORT_MARK, path, configFile, port, tcpPort, library, ffi: ffiLibrary() };
  if (process.platform !== 'linux') {
    // Without walls to build, unconfined threads of this process do not matter.
    const missing = `${process.platform} has no Landlock`;
    process.argv[2] = JSON.stringify({ ...start, ...noLandlock(missing), socketsMissing: missing });
    await import(pathToFileURL(HOST_SCRIPT).href);
    return;
  }
  giveStore(bootstrap);
  const landlock = confine(bootstrap);
  const socketsMissing = filterSockets(bootstrap);
  if (bootstrap.user !== null) becomeUser(bootstrap.user);
  execute([process.execPath, HOST_SCRIPT, JSON.stringify({ ...start, ...landlock, socketsMissing })]);
}

interface LandlockFinding {
  readonly landlockAbi: number | null;
  readonly landlockMissing: string | null;
}

function noLandlock(landlockMissing: string): LandlockFinding {
  return { landlockAbi: null, landlockMissing };
}

function confine(bootstrap: HostBootstrap): LandlockFinding {
  if (!bootstrap.landlock) return noLandlock('it was switched off');
  const found = landlockAbi();
  if ('missing' in found) return noLandlock(found.missing);
  const { port, tcpPort, connects, sockets } = bootstrap;
  const ports = sockets ? { listens: [port, ...(tcpPort === null ? [] : [tcpPort])], connects } : null;
  confineThisThread(found.abi, engineRules(bootstrap, mappedFiles()), ports);
  return { landlockAbi: found.abi, landlockMissing: null };
}

/** Why the engine's sockets are not bounded; null where a filter of system calls bounds them. */
function filterSockets({ sockets, connects }: HostBootstrap): string | null {
  if (!sockets) return 'it was switched off';
  try {
    return boundSockets({ connects: connects.length > 0 })?.missing ?? null;
  } catch (error) {
    if (!(error instanceof LibcError)) throw error;
    return `this kernel, or the container, takes no filter of system calls (${error.message})`;
  }
}

/** A store from an earlier version, or from a start without this user, has another owner. */
function giveStore({ path, own, configFile, user }: HostBootstrap): void {
  if (process.geteuid?.() !== 0) return;
  const id = user?.id ?? process.geteuid();
  const [store, ...others] = [path, ...own, dirname(configFile)];
  if (store !== undefined && !belongsTo(store, id)) {
    refuseLockedStore(store);
    giveTo(store, id);
  }
  for (const directory of others) giveTo(directory, id);
}

const LOCK_EXCLUSIVE_NOW = 2 | 4;

/** The files of a running engine must not change owner. The engine locks this file in the same way, with the same message. */
function refuseLockedStore(store: string): void {
  const status = join(store, 'status');
  if (!existsSync(status)) return;
  const file = openSync(status, 'r');
  try {
    callLibc('flock', [file, LOCK_EXCLUSIVE_NOW]);
  } catch (error) {
    if (!(error instanceof LibcError)) throw error;
    throw new Error(`Cannot lock file ${status}: another engine is running in this directory`);
  } finally {
    closeSync(file);
  }
}

/** Executes another program with this process's environment. Returns only by throwing. */
function execute(command: readonly string[]): void {
  // Node sets close-on-exec on its standard streams.
  for (const stream of STDIO) keepOpen(stream);
  callLibc('execl', [command[0] ?? '', ...command, 0]);
}

await main();
