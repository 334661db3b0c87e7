import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Static } from '@sinclair/typebox';
import type { ConfigSchema } from '../core/config/config.ts';
import { ENVIRONMENT } from '../core/config/environment.ts';
import { nodeArguments } from '../core/process/child-process.ts';
import { waitWhileItProgresses } from '../core/process/standstill.ts';

/** What a configuration file may say; everything else takes its default. */
export type ServiceConfig = DeepPartial<Static<typeof ConfigSchema>>;
type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly Item[]
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
    : T;

export interface SpawnedService {
  readonly url: string;
  readonly pid: number;
  /** Everything the service wrote. */
  readonly logFile: string;
  /** Rejects when the service ends without having been asked to. Never resolves. */
  readonly failed: Promise<never>;
  /** Asks the service to end, and kills it when it does not; resolves once it is gone. Twice is fine. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly config: ServiceConfig & { readonly http: { readonly port: number } };
  /** Where the configuration file and the log go. Made when absent. */
  readonly directory: string;
}

/** Without a new line in its log. The longest silence is the start of Node and of the engine: seconds on an idle machine. */
const READY_STANDSTILL_MS = 90_000;
/** Each look takes a little of the processor that the service needs to start. */
const READY_LOOK_EVERY_MS = 200;
const READY_ANSWER_TIMEOUT_MS = 2_000;
/** Above the service's own 15 s, so that it is killed only when its own limit failed. */
const STOP_TIMEOUT_MS = 20_000;
const LOG_TAIL_CHARS = 3_000;

/**
 * Runs between the demo and the service: when our end of its stdin closes, even by `kill -9` of the demo, it asks the
 * service to end and kills it if need be. The service itself must not watch stdin, because operators run it without one. It
 * also drops the environment variables that would override the generated configuration.
 */
const GUARD = `
const { spawn } = require('node:child_process');
const [names, stopTimeoutMs, ...command] = process.argv.slice(1);
const dropped = new Set(JSON.parse(names));
for (const name of Object.keys(process.env)) if (dropped.has(name) || name.startsWith('RPC_URL_')) delete process.env[name];
const service = spawn(process.execPath, command, { stdio: ['ignore', 'inherit', 'inherit'] });
service.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGTERM' ? 0 : 1)));
service.on('error', (error) => { console.error(error.message); process.exit(1); });
const end = () => { service.kill('SIGTERM'); setTimeout(() => service.kill('SIGKILL'), Number(stopTimeoutMs)).unref(); };
process.stdin.on('end', end).on('error', end).resume();
process.on('SIGTERM', end).on('SIGINT', end);
`;

export function configFileIn(directory: string): string {
  return join(directory, 'settlement-index.config.json');
}

/**
 * Runs the real service (`src/main.ts`) over a generated configuration file and waits until /readyz says yes.
 * Throws with the end of its log when it ends or stays unready.
 */
export async function spawnService(options: ServiceOptions): Promise<SpawnedService> {
  mkdirSync(options.directory, { recursive: true });
  const file = configFileIn(options.directory);
  const logFile = join(options.directory, 'service.log');
  writeFileSync(file, `${JSON.stringify(options.config, null, 2)}\n`, { mode: 0o600 });
  const guard = startGuard(file, logFile);
  const run = watchExit(guard, logFile);
  const url = `http://127.0.0.1:${options.config.http.port}`;
  const stop = async (): Promise<void> => {
    run.expectEnd();
    guard.stdin?.end();
    await run.exited;
  };
  try {
    await Promise.race([untilReady(url, logFile), run.failed]);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url, pid: guard.pid ?? 0, logFile, failed: run.failed, stop };
}

function startGuard(file: string, logFile: string): ChildProcess {
  const main = new URL(`../src/main${extname(import.meta.url)}`, import.meta.url);
  const command = [...nodeArguments(main), 'start', '--config', file];
  const names = JSON.stringify([...Object.keys(ENVIRONMENT), 'SETTLEMENT_INDEX_CONFIG']);
  const log = openSync(logFile, 'w', 0o600);
  const guard = spawn(process.execPath, ['-e', GUARD, names, String(STOP_TIMEOUT_MS), ...command], {
    stdio: ['pipe', log, log],
    // Its own group: Ctrl-C in the terminal reaches the demo alone, which then stops everything in order.
    detached: true,
  });
  closeSync(log);
  guard.stdin?.on('error', () => undefined); // EPIPE when the guard ended first; 'exit' tells
  return guard;
}

interface ServiceRun {
  /** Ends once the guard, and with it the service, is gone. */
  readonly exited: Promise<unknown>;
  readonly failed: Promise<never>;
  /** From now on an end is no failure. */
  expectEnd(): void;
}

function watchExit(guard: ChildProcess, logFile: string): ServiceRun {
  let expected = false;
  const exited = new Promise<number | null>((resolve) => guard.once('exit', (code) => resolve(code)));
  const failed = exited.then((code) => {
    if (expected) return new Promise<never>(() => undefined);
    throw new Error(`the service ended by itself (code ${code}):\n${logTail(logFile)}`);
  });
  failed.catch(() => undefined); // not every caller awaits it, and an unhandled rejection would end the process
  return {
    exited,
    failed,
    expectEnd() {
      expected = true;
    },
  };
}

async function untilReady(url: string, logFile: string): Promise<void> {
  const look = async () => ({
    done: await isReady(url),
    at: `${statSync(logFile).size} bytes of its log`,
  });
  try {
    await waitWhileItProgresses('the service is ready', look, READY_STANDSTILL_MS, READY_LOOK_EVERY_MS);
  } catch (cause) {
    throw new Error(`the service is not ready:\n${logTail(logFile)}`, { cause });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(READY_ANSWER_TIMEOUT_MS) })).ok;
  } catch {
    return false; // not listening yet
  }
}

function logTail(logFile: string): string {
  return readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARS);
}
