import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT } from '../../core/config/environment.ts';
import { WITH_US } from '../kit/with-us.ts';
import type { Forwarder } from './forwarder.ts';
import type { Host } from './hosts.ts';

/** One process of the service, on a host of its own, that can be killed, stopped, cut off and given a wrong clock. */
export interface Member {
  readonly name: string;
  readonly role: Role;
  readonly host: Host;
  /** Its ways to the other parts. */
  readonly ways: Readonly<Record<Way, Forwarder>>;
  /** Of an API; null for the others. */
  readonly url: string | null;
  readonly logFile: string;
  /** How often it ended by itself. It is started again then, as by whatever runs it in production. */
  ends(): number;
  /** Starts it with a clock that is `skewSeconds` ahead; does nothing while it runs. */
  start(skewSeconds: number): void;
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

export type Role = 'api' | 'ingest' | 'rollup';
export const WAYS = ['redis', 'engine', 'chain', 'facilitator'] as const;
export type Way = (typeof WAYS)[number];

export interface MemberOptions {
  readonly name: string;
  readonly role: Role;
  readonly host: Host;
  readonly ways: Readonly<Record<Way, Forwarder>>;
  readonly port: number;
  /** The compiled program. */
  readonly main: string;
  readonly directory: string;
  readonly config: object;
}

const FAKETIME_PLACES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketime.so.1`,
);

/** The library that gives a process another clock; undefined where it is not installed (apt-get install faketime). */
export const FAKETIME: string | undefined = FAKETIME_PLACES.find((path) => existsSync(path));

const START_AGAIN_AFTER_MS = 500;

export function createMember(options: MemberOptions): Member {
  const { name, role, host, ways, port, main, directory } = options;
  const file = join(directory, `${name}.json`);
  const logFile = join(directory, `${name}.log`);
  writeFileSync(file, JSON.stringify(options.config), { mode: 0o600 });
  const life = { child: undefined as ChildProcess | undefined, wanted: false, ends: 0 };
  const isRunning = (): boolean => life.child?.exitCode === null && life.child.signalCode === null;
  const start = (skewSeconds: number): void => {
    life.wanted = true;
    if (isRunning()) return;
    const [command = '', ...words] = [...host.prefix, ...WITH_US, process.execPath, main];
    const log = openSync(logFile, 'a');
    const child = spawn(command, [...words, 'start', '--config', file], {
      stdio: ['ignore', log, log],
      env: environment(skewSeconds),
    });
    closeSync(log);
    life.child = child;
    child.once('exit', () => {
      if (!life.wanted) return;
      life.ends += 1;
      setTimeout(() => life.wanted && start(skewSeconds), START_AGAIN_AFTER_MS).unref();
    });
  };
  return {
    name,
    role,
    host,
    ways,
    url: role === 'api' ? `http://${host.address}:${port}` : null,
    logFile,
    ends: () => life.ends,
    start,
    async kill() {
      life.wanted = false;
      const { child } = life;
      if (child === undefined || !isRunning()) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    freeze: () => void life.child?.kill('SIGSTOP'),
    thaw: () => void life.child?.kill('SIGCONT'),
  };
}

/** Ours, without what would override the configuration file. */
function environment(skewSeconds: number): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !(name in ENVIRONMENT) && !name.startsWith('RPC_URL_') && !name.startsWith('VITEST'),
  );
  const clock =
    FAKETIME === undefined || skewSeconds === 0
      ? {}
      : {
          LD_PRELOAD: FAKETIME,
          FAKETIME: `${skewSeconds > 0 ? '+' : ''}${skewSeconds}s`,
          // Measured durations are right on a machine whose clock is wrong.
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DONT_FAKE_MONOTONIC: '1',
        };
  return { ...Object.fromEntries(kept), ...clock };
}
