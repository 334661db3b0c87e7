import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { becomeUser, callLibc, LibcError } from './become-user.ts';
import { belongsTo, giveTo } from './directory.ts';
import { engineRules, HOST_SCRIPT, mappedFiles } from './files.ts';
import { type HostBootstrap, parseBootstrap } from './host-bootstrap.ts';
import { confineThisThread, keepOpen, landlockAbi } from './landlock.ts';
import { REPORT_MARK } from './walls.ts';

/**
 * Builds the walls around the engine and becomes it. Landlock confines the calling thread only, and Node has others by now; so
 * the host is not loaded here but executed: the process keeps its id, its pipes and its parent, and all threads of the new program
 * are confined. What the supervisor kills, waits for and reads is the engine itself.
 */

const STDIN = 0;
const STDIO = [0, 1, 2];
const NEWLINE = 10;
const BOOTSTRAP_MAX_BYTES = 1024 * 1024;

/** Not through `process.stdin`, which reads ahead: the rest of the pipe is the host's. */
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
  const start = { reportMark: REPORT_MARK, path, configFile, port, tcpPort, library };
  if (process.platform !== 'linux') {
    // No walls to build, so nothing that other threads of this process could be outside of.
    process.argv[2] = JSON.stringify({ ...start, ...noLandlock(`${process.platform} has no Landlock`) });
    await import(pathToFileURL(HOST_SCRIPT).href);
    return;
  }
  giveStore(bootstrap);
  const landlock = confine(bootstrap);
  if (bootstrap.user !== null) becomeUser(bootstrap.user);
  execute([process.execPath, HOST_SCRIPT, JSON.stringify({ ...start, ...landlock })]);
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
  confineThisThread(found.abi, engineRules(bootstrap, mappedFiles()));
  return { landlockAbi: found.abi, landlockMissing: null };
}

/** A store of an earlier version, or of a start without this user, belongs to another one. */
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

/** Files of an engine that runs must not change hands. The engine locks this file in the same way, and says the same words. */
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

/** Becomes another program, in the environment that this one was given. Returns only by throwing. */
function execute(command: readonly string[]): void {
  // Node marks its own standard streams as not to be inherited.
  for (const stream of STDIO) keepOpen(stream);
  callLibc('execl', [command[0] ?? '', ...command, 0]);
}

await main();
