import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type GuardedProcess, startGuarded } from '../support/guarded-process.ts';
import type { Workspace } from '../support/workspace.ts';

/** A PostgreSQL of our own, reachable only through a socket in its own directory. */
export interface PostgresCluster {
  readonly version: string;
  /** Directory of psql and the others. */
  readonly bin: string;
  /** What libpq programs need to reach it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops it and gives its disk space back. */
  remove(): Promise<void>;
}

/** PostgreSQL is not installed here; the message says how to install it. */
export class PostgresMissing extends Error {}

const BIN = '/usr/lib/postgresql/15/bin';
const DATABASE_USER = 'bench';
const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 100;
const SHARED_BUFFERS_MIB_MAX = 4_096;
/** initdb refuses to run as root: root gives the directory to one of these users. */
const UNPRIVILEGED_USERS = ['postgres', 'nobody'];

export async function startPostgres(workspace: Workspace): Promise<PostgresCluster> {
  if (!existsSync(join(BIN, 'postgres'))) {
    throw new PostgresMissing(
      `PostgreSQL 15 was not found in ${BIN}. On Debian 12: apt-get update && apt-get install -y postgresql-15`,
    );
  }
  const root = join(workspace.dir, 'postgres');
  const data = join(root, 'data');
  mkdirSync(root, { mode: 0o700 });
  const owner = unprivilegedUser();
  if (owner !== undefined) {
    chmodSync(workspace.dir, 0o711); // the owner must reach its directory, nothing else
    chownSync(root, owner.uid, owner.gid);
  }
  const asOwner = (program: string, args: readonly string[]): [string, string[]] =>
    owner === undefined
      ? [join(BIN, program), [...args]]
      : [
          'setpriv',
          [
            `--reuid=${owner.uid}`,
            `--regid=${owner.gid}`,
            '--clear-groups',
            '--',
            join(BIN, program),
            ...args,
          ],
        ];
  // Trust is safe here: only the owner of the directory (and root) can reach the socket in it.
  const init = ['-D', data, '-U', DATABASE_USER, '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8'];
  execFileSync(...asOwner('initdb', init), { cwd: '/', stdio: 'pipe' });
  const [command, args] = asOwner('postgres', ['-D', data, ...settings(root)]);
  const server = startGuarded({ command, args, cwd: '/' });
  const remove = async (): Promise<void> => {
    // By its own way first: a killed postmaster leaves a shared memory segment behind.
    const halt = asOwner('pg_ctl', ['stop', '-D', data, '-m', 'immediate', '-w']);
    if (existsSync(join(data, 'postmaster.pid'))) execFileSync(...halt, { cwd: '/', stdio: 'pipe' });
    await server.stop();
    rmSync(root, { recursive: true, force: true });
  };
  workspace.defer(remove);
  const environment = { PGHOST: root, PGUSER: DATABASE_USER, PGDATABASE: 'postgres' };
  await untilReady(server, environment);
  const version = execFileSync(join(BIN, 'postgres'), ['--version'], { encoding: 'utf8' }).trim();
  return { version, bin: BIN, environment, remove };
}

/**
 * Settings of a machine that belongs to the database: a quarter of the memory as buffers, room for sorts and hashes, costs of
 * a solid-state disk. No WAL for a bulk load and no waiting for it either. The rest, JIT included, is as Debian ships it.
 */
function settings(socketDirectory: string): string[] {
  const memoryMib = totalmem() / 1024 ** 2;
  const values: Readonly<Record<string, string | number>> = {
    listen_addresses: '',
    unix_socket_directories: socketDirectory,
    shared_buffers: `${Math.floor(Math.min(SHARED_BUFFERS_MIB_MAX, memoryMib / 4))}MB`,
    effective_cache_size: `${Math.floor(memoryMib / 2)}MB`,
    work_mem: '256MB',
    maintenance_work_mem: '1GB',
    max_parallel_workers: 2,
    max_parallel_workers_per_gather: 2,
    max_parallel_maintenance_workers: 2,
    random_page_cost: 1.1,
    effective_io_concurrency: 200,
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_wal_size: '8GB',
    checkpoint_timeout: '30min',
    synchronous_commit: 'off',
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of UNPRIVILEGED_USERS) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // no such user: the next one
    }
  }
  throw new PostgresMissing('PostgreSQL refuses to run as root, and there is no user postgres or nobody.');
}

async function untilReady(
  server: GuardedProcess,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  for (;;) {
    try {
      execFileSync(join(BIN, 'pg_isready'), ['-q'], { env: { ...process.env, ...environment } });
      return;
    } catch (cause) {
      if (ended || performance.now() > deadline)
        throw new Error(`PostgreSQL did not start: ${server.lastLines().join(' ')}`, { cause });
    }
    await sleep(READY_POLL_MS);
  }
}
