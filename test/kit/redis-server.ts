import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { freePort } from '../../core/process/free-port.ts';
import { WITH_US } from './with-us.ts';

/** A real redis-server of the test's own: on loopback, in a temporary directory, on disk before it answers. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** Stops it from answering, as a machine that hangs does, and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** Ends it for good and removes its data. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const PORT_TRIES = 20;

let told = false;

/**
 * Whether tests can start a redis-server. Without one they are skipped, with one line that says what to install; where
 * `CI_REQUIRE_REDIS=1` says that there must be one, their file fails. For `describe.skipIf(!redisIsThere())`.
 */
export function redisIsThere(): boolean {
  if (spawnSync('redis-server', ['--version']).status === 0) return true;
  if (process.env['CI_REQUIRE_REDIS'] === '1') {
    throw new Error('redis-server is not on the PATH, and CI_REQUIRE_REDIS=1 requires it');
  }
  if (!told) {
    process.stderr.write(
      '\nSKIPPED: tests of the Redis control store, because redis-server is not on the PATH. Install it: apt-get install redis-server\n\n',
    );
  }
  told = true;
  return false;
}

/** `settings` are lines of redis.conf as arguments, such as `['--appendonly', 'no']`; they win over the usual ones. */
export async function startRedisServer(settings: readonly string[] = []): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'settlement-index-redis-'));
  const first = await startOnFreePort(dir, settings);
  const { port } = first;
  let child = first.child;
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  // A test process that ends in a hurry takes its server with it.
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    start: async () => {
      child = await launch(dir, port, settings);
    },
    freeze: () => {
      child.kill('SIGSTOP');
    },
    thaw: () => {
      child.kill('SIGCONT');
    },
    stop: async () => {
      process.removeListener('exit', endWithUs);
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function startOnFreePort(
  dir: string,
  settings: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  let failure: unknown;
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    const port = await freePort();
    try {
      return { child: await launch(dir, port, settings), port };
    } catch (error) {
      if (!String(error).includes('Address already in use')) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Resolves when the server has read its data and answers; rejects with what it printed when it ends before. */
async function launch(dir: string, port: number, settings: readonly string[]): Promise<ChildProcess> {
  const usual = [
    ...['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', 'always'],
  ];
  const [command = '', ...words] = [...WITH_US, 'redis-server', ...usual, ...settings];
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await untilReady(child);
    return child;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

async function untilReady(child: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  const printed: string[] = [];
  const giveUp = new AbortController();
  const lines = createInterface({ input: child.stdout, signal: giveUp.signal });
  const timer = setTimeout(() => giveUp.abort(), START_TIMEOUT_MS);
  const failure = once(child, 'error', { signal: giveUp.signal }).then(([error]) => {
    throw error;
  });
  const reading = (async () => {
    for await (const line of lines) {
      printed.push(line);
      if (line.includes('Ready to accept connections')) return;
    }
    throw new Error(`redis-server did not start: ${printed.join('\n')}`);
  })();
  try {
    await Promise.race([reading, failure]);
  } finally {
    clearTimeout(timer);
    failure.catch(() => undefined);
    giveUp.abort();
    // A pipe that is not read fills up and stops the process that prints.
    child.stdout.resume();
  }
}
