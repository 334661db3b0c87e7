import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** One run of a child Node process of ours; `supervise.ts` keeps starting new ones. */
export interface Run {
  readonly process: ChildProcess;
  readonly exited: Promise<ChildExit>;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of the child's stderr. */
  readonly errorLines: readonly string[];
}

export interface SpawnOptions {
  /** The entry file, `.ts` from the source tree or `.js` when built. */
  readonly entry: URL;
  /** JSON, handed over on stdin; may hold secrets. */
  readonly bootstrap: unknown;
  /** Environment of the child; the supervisor's own when absent. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Scheduling priority, 1 (slightly nicer) to 19. */
  readonly nice?: number;
  /** Flags of the child's Node, before the entry. */
  readonly nodeFlags?: readonly string[];
  /** Called with each stderr line of the child. The last lines are kept for messages in any case. */
  onErrorLine?(line: string): void;
}

export interface StopOptions {
  /** What a stop sends first. SIGKILL for the engine: acknowledged inserts survive and the graceful way takes 6 s. */
  readonly stopSignal: NodeJS.Signals;
  /** How long the child may take to end after `stopSignal` before it is killed. */
  readonly stopTimeoutMs?: number;
}

const STOP_TIMEOUT_MS = 10_000;
const ERROR_LINES_MAX = 20;

export function spawnChild(options: SpawnOptions): Run {
  const child = spawn(process.execPath, [...(options.nodeFlags ?? []), ...nodeArguments(options.entry)], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
    ...(options.environment === undefined ? {} : { env: { ...options.environment } }),
  });
  const errorLines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    errorLines.push(line);
    if (errorLines.length > ERROR_LINES_MAX) errorLines.shift();
    options.onErrorLine?.(line);
  });
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('error', (error) => {
      errorLines.push(error.message);
      if (child.pid === undefined) resolve({ code: null, signal: null, errorLines });
    });
    // `close` and not `exit`: the last stderr lines have arrived by then.
    child.once('close', (code, signal) => resolve({ code, signal, errorLines }));
  });
  child.stdin.on('error', () => undefined); // EPIPE from a child that died at once; `exited` reports it
  child.stdin.write(`${JSON.stringify(options.bootstrap)}\n`);
  if (options.nice !== undefined && child.pid !== undefined) beNice(child.pid, options.nice);
  return { process: child, exited };
}

/** Threads inherit the priority of the thread that starts them, so set it before the child starts any. */
function beNice(pid: number, nice: number): void {
  try {
    setPriority(pid, nice);
  } catch {
    // Either the child is gone, which `exited` reports, or the system refuses, which costs only some latency.
  }
}

/**
 * In a source checkout the child needs tsx, resolved here because neither vitest nor the parent's `--import` applies to the child.
 * Node 22.18 and newer strip types themselves, but Node 20 does not, so every version uses tsx.
 */
export function nodeArguments(entry: URL): string[] {
  const path = fileURLToPath(entry);
  if (!path.endsWith('.ts')) return [path];
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return ['--import', tsx, path];
}

/** Sends `stopSignal`, SIGKILL when that did not end it in time; resolves when the process is gone. */
export async function endRun(run: Run, options: StopOptions): Promise<void> {
  if (run.process.pid === undefined) return;
  run.process.kill(options.stopSignal);
  const late = new AbortController();
  const timeoutMs = options.stopTimeoutMs ?? STOP_TIMEOUT_MS;
  void sleep(timeoutMs, undefined, { signal: late.signal }).then(
    () => run.process.kill('SIGKILL'),
    () => undefined, // ended in time
  );
  await run.exited;
  late.abort();
}

export function describeExit(exit: ChildExit): string {
  return exit.signal === null ? `code ${exit.code}` : exit.signal;
}

/**
 * The child's side of `superviseChild`: reads the bootstrap line from stdin, then ends this process when stdin closes, which means
 * that the supervisor is gone. `parse` checks the JSON; `onSupervisorGone` replaces the default, an immediate SIGKILL of this
 * process (right for the engine, while a worker may first finish an insert). `onLine` hears what the supervisor tells later.
 */
export function readBootstrap<T>(
  parse: (json: unknown) => T,
  {
    onSupervisorGone = () => void process.kill(process.pid, 'SIGKILL'),
    onLine = () => undefined,
  }: { readonly onSupervisorGone?: () => void; readonly onLine?: (line: string) => void } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: process.stdin });
    lines.once('line', (first) => {
      lines.on('line', onLine);
      try {
        resolve(parse(JSON.parse(first)));
      } catch (error) {
        reject(error);
      }
    });
    lines.once('close', onSupervisorGone);
    process.stdin.once('error', onSupervisorGone);
  });
}
