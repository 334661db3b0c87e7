import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Log } from './log.ts';

/**
 * Keeps one child Node process of ours alive: the embedded engine, the ingest worker.
 *
 * The child has its own process group, because `SYSTEM SHUTDOWN` inside the engine kills the whole group (engine.md 1). Its
 * stdin is a pipe that carries the bootstrap, one JSON line, so that secrets are never in an argument list or an environment
 * that other users of the machine can read. When the pipe closes the child ends itself: a supervisor that is killed with
 * `kill -9` leaves no orphan.
 */
export interface ChildOptions {
  /** For the log and for messages, for example `engine`. */
  readonly name: string;
  /** The entry file, `.ts` from the source tree or `.js` when built. */
  readonly entry: URL;
  /** JSON, handed over on stdin; may hold secrets. */
  readonly bootstrap: unknown;
  /** Polled while the child starts; a rejection counts as "not yet". */
  ready(): Promise<boolean>;
  /** Asked every `aliveEveryMs` once ready; `aliveMissesMax` misses in a row kill a child that hangs. */
  alive?(): Promise<boolean>;
  readonly log: Log;
  /** What `stop()` sends first. SIGKILL for the engine: acknowledged inserts survive and the graceful way takes 6 s. */
  readonly stopSignal: NodeJS.Signals;
  /** How long the child may take to end after `stopSignal` before it is killed. */
  readonly stopTimeoutMs?: number;
  readonly startTimeoutMs?: number;
  /** Environment of the child; the supervisor's own when absent. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Scheduling priority, 1 (slightly nicer) to 19. */
  readonly nice?: number;
  /** Each line the child writes to stderr. The last ones are kept for messages either way. */
  onErrorLine?(line: string): void;
  /** After every successful start, the first included. */
  onReady?(pid: number): void;
  /** After every end that nobody asked for. */
  onExit?(exit: ChildExit): void;
  /** Whether to try again when the very first start fails; default: never. */
  retryFirstStart?(exit: ChildExit, elapsedMs: number): boolean;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What the child said last on stderr. */
  readonly errorLines: readonly string[];
}

export type ChildState = 'starting' | 'ready' | 'waiting' | 'stopped';

export interface SupervisedChild {
  readonly pid: number | undefined;
  /** Starts after the first one. */
  readonly restarts: number;
  readonly state: ChildState;
  /** Ends the child for good; resolves when the process is gone. Idempotent. */
  stop(): Promise<void>;
}

/** The first start failed. Later failures are retried for ever and only logged. */
export class ChildStartError extends Error {
  readonly exit: ChildExit;

  constructor(name: string, exit: ChildExit) {
    super(`${name} did not start (${describeExit(exit)}): ${exit.errorLines.join(' ').slice(0, 2000)}`);
    this.name = 'ChildStartError';
    this.exit = exit;
  }
}

const READY_POLL_MS = 25;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const BACK_OFF_FIRST_MS = 100;
const BACK_OFF_MAX_MS = 10_000;
/** A child that ran this long was healthy: the next failure starts the back-off anew. */
const HEALTHY_AFTER_MS = 30_000;
const ALIVE_EVERY_MS = 5_000;
/** Half a minute of silence. A saturated engine answers `/ping` late, but it answers. */
const ALIVE_MISSES_MAX = 6;
const ERROR_LINES_MAX = 20;

interface Run {
  readonly process: ChildProcess;
  readonly exited: Promise<ChildExit>;
}

/**
 * Starts the child and resolves when it is ready; from then on restarts it after every exit, with back-off and jitter.
 * Throws `ChildStartError` when the first start fails.
 */
export async function superviseChild(options: ChildOptions): Promise<SupervisedChild> {
  const stopping = new AbortController();
  const shown = { state: 'starting' as ChildState, restarts: 0, run: undefined as Run | undefined };

  const startOnce = async (): Promise<Run> => {
    shown.state = 'starting';
    const run = spawnChild(options);
    shown.run = run;
    await untilReady(run, options, stopping.signal);
    shown.state = 'ready';
    options.onReady?.(run.process.pid ?? 0);
    return run;
  };

  const first = await startFirst(options, startOnce);
  const keeping = keepAlive(first, options, stopping.signal, {
    startOnce: () => {
      shown.restarts++;
      return startOnce();
    },
    waiting: () => {
      shown.state = 'waiting';
    },
  });

  return {
    get pid() {
      return shown.state === 'stopped' ? undefined : shown.run?.process.pid;
    },
    get restarts() {
      return shown.restarts;
    },
    get state() {
      return shown.state;
    },
    async stop() {
      stopping.abort();
      if (shown.run !== undefined) await endRun(shown.run, options);
      await keeping;
      // A restart may have begun between the two lines above.
      if (shown.run !== undefined) await endRun(shown.run, options);
      shown.state = 'stopped';
    },
  };
}

async function startFirst(options: ChildOptions, startOnce: () => Promise<Run>): Promise<Run> {
  const began = performance.now();
  for (;;) {
    try {
      return await startOnce();
    } catch (error) {
      const again =
        error instanceof ChildStartError && options.retryFirstStart?.(error.exit, performance.now() - began);
      if (again !== true) throw error;
      await sleep(BACK_OFF_FIRST_MS);
    }
  }
}

interface Restarting {
  startOnce(): Promise<Run>;
  waiting(): void;
}

async function keepAlive(
  first: Run,
  options: ChildOptions,
  stopping: AbortSignal,
  restarting: Restarting,
): Promise<void> {
  let run: Run | undefined = first;
  let failures = 0;
  while (!stopping.aborted) {
    const began = performance.now();
    if (run !== undefined) {
      const exit = await watch(run, options, stopping);
      if (stopping.aborted) return;
      if (performance.now() - began > HEALTHY_AFTER_MS) failures = 0;
      options.log.warn({ exit: describeExit(exit), errorLines: exit.errorLines }, `${options.name} ended`);
      options.onExit?.(exit);
    }
    restarting.waiting();
    const delayMs = backOffMs(failures++);
    await sleep(delayMs, undefined, { signal: stopping }).catch(() => undefined); // an abort only ends the wait
    if (stopping.aborted) return;
    run = await restart(options, stopping, restarting);
  }
}

async function restart(
  options: ChildOptions,
  stopping: AbortSignal,
  restarting: Restarting,
): Promise<Run | undefined> {
  try {
    const run = await restarting.startOnce();
    options.log.info({ pid: run.process.pid }, `${options.name} restarted`);
    return run;
  } catch (error) {
    if (!(error instanceof ChildStartError)) throw error;
    if (!stopping.aborted) {
      options.log.error({ exit: describeExit(error.exit) }, error.message);
      options.onExit?.(error.exit);
    }
    return undefined;
  }
}

/** Doubles from 100 ms to 10 s; jitter keeps two children from hammering a shared cause in step. */
function backOffMs(failures: number): number {
  const full = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** failures);
  return full / 2 + (Math.random() * full) / 2;
}

/** Resolves when the child has ended, by itself or because it stopped answering. */
async function watch(run: Run, options: ChildOptions, stopping: AbortSignal): Promise<ChildExit> {
  if (options.alive === undefined) return run.exited;
  let misses = 0;
  let ended = false;
  const exited = run.exited.finally(() => {
    ended = true;
  });
  while (!ended && !stopping.aborted) {
    await Promise.race([
      exited,
      sleep(ALIVE_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined),
    ]);
    if (ended || stopping.aborted) break;
    misses = (await isTrue(options.alive)) ? 0 : misses + 1;
    if (misses >= ALIVE_MISSES_MAX) {
      options.log.error({ pid: run.process.pid }, `${options.name} does not answer and is killed`);
      run.process.kill('SIGKILL');
    }
  }
  return exited;
}

function spawnChild(options: ChildOptions): Run {
  const child = spawn(process.execPath, nodeArguments(options.entry), {
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
  child.stdin.on('error', () => undefined); // EPIPE of a child that died at once; `exited` tells the story
  child.stdin.write(`${JSON.stringify(options.bootstrap)}\n`);
  if (options.nice !== undefined && child.pid !== undefined) setPriority(child.pid, options.nice);
  return { process: child, exited };
}

/**
 * From the source tree the child needs tsx, resolved here because neither vitest nor a `--import` of the parent reaches the
 * child. Node 22.18 and newer could strip types itself, Node 20 cannot; one way for all.
 */
function nodeArguments(entry: URL): string[] {
  if (!entry.pathname.endsWith('.ts')) return [entry.href.startsWith('file:') ? urlPath(entry) : entry.href];
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return ['--import', tsx, urlPath(entry)];
}

function urlPath(url: URL): string {
  return decodeURIComponent(url.pathname);
}

async function untilReady(run: Run, options: ChildOptions, stopping: AbortSignal): Promise<void> {
  const deadline = performance.now() + (options.startTimeoutMs ?? START_TIMEOUT_MS);
  let exit: ChildExit | undefined;
  const exited = run.exited.then((value) => {
    exit = value;
  });
  for (;;) {
    if (exit === undefined && (await isTrue(() => options.ready()))) {
      if (exit === undefined) return;
    }
    if (exit !== undefined) throw new ChildStartError(options.name, exit);
    if (stopping.aborted || performance.now() > deadline) break;
    await Promise.race([exited, sleep(READY_POLL_MS)]);
  }
  run.process.kill('SIGKILL');
  const killed = await run.exited;
  const reason = stopping.aborted ? 'it was stopped while it started' : 'it was not ready in time';
  throw new ChildStartError(options.name, { ...killed, errorLines: [...killed.errorLines, reason] });
}

async function endRun(run: Run, options: ChildOptions): Promise<void> {
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

async function isTrue(question: () => Promise<boolean>): Promise<boolean> {
  try {
    return await question();
  } catch {
    return false; // "not yet": the caller counts misses and has a deadline
  }
}

function describeExit(exit: ChildExit): string {
  return exit.signal === null ? `code ${exit.code}` : exit.signal;
}
