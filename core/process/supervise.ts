import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import {
  type ChildExit,
  describeExit,
  endRun,
  type Run,
  type SpawnOptions,
  type StopOptions,
  spawnChild,
} from './child-process.ts';

/**
 * Keeps one child Node process of ours alive: the embedded engine, the ingest worker.
 *
 * The child has its own process group, because `SYSTEM SHUTDOWN` inside the engine kills the whole group. Its
 * stdin is a pipe that carries the bootstrap, one JSON line, so that secrets are never in an argument list or an environment
 * that other users of the machine can read. When the pipe closes the child ends itself: a supervisor that is killed with
 * `kill -9` leaves no orphan.
 */
export interface ChildOptions extends SpawnOptions, StopOptions {
  /** For the log and for messages, for example `engine`. */
  readonly name: string;
  /** Runs before every start, the first included; a rejection is a failed start with that message. */
  prepare?(): Promise<void>;
  /** Polled while the child starts; a rejection counts as "not yet". */
  ready(): Promise<boolean>;
  /** Polled every `aliveEveryMs` once ready; after `aliveMissesMax` misses in a row the child hangs and is killed. */
  alive?(): Promise<boolean>;
  readonly aliveEveryMs?: number;
  readonly aliveMissesMax?: number;
  readonly log: Log;
  readonly startTimeoutMs?: number;
  /** Called after every successful start, the first included. */
  onReady?(pid: number): void;
  /** Called after every unrequested exit. */
  onExit?(exit: ChildExit): void;
  /** Whether to try again when the very first start fails; default: never. */
  retryFirstStart?(exit: ChildExit, elapsedMs: number): boolean;
}

export type ChildState = 'starting' | 'ready' | 'waiting' | 'stopped';

export interface SupervisedChild {
  readonly pid: number | undefined;
  /** Starts after the first one. */
  readonly restarts: number;
  readonly state: ChildState;
  /** Writes a line to the child's stdin, where one runs; a line that a restart loses is not told again. */
  tell(line: string): void;
  /** Ends the child for good; resolves when the process is gone. Idempotent. */
  stop(): Promise<void>;
}

/** The first start failed. Later failures are only logged, and retried forever. */
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
/** Short, so that a healthy child that dies once is back before its callers give up. */
const BACK_OFF_FIRST_MS = 20;
const BACK_OFF_MAX_MS = 10_000;
/** A child that ran this long was healthy: its next failure resets the back-off. */
const HEALTHY_AFTER_MS = 30_000;
const ALIVE_EVERY_MS = 5_000;
/** Half a minute of silence. A saturated engine answers `/ping` late, but it answers. */
const ALIVE_MISSES_MAX = 6;

/**
 * Starts the child and resolves when it is ready; from then on restarts it after every exit, with back-off and jitter.
 * Throws `ChildStartError` when the first start fails.
 */
export async function superviseChild(options: ChildOptions): Promise<SupervisedChild> {
  const stopping = new AbortController();
  const shown = { state: 'starting' as ChildState, restarts: 0, run: undefined as Run | undefined };

  const startOnce = async (): Promise<Run> => {
    shown.state = 'starting';
    await prepare(options);
    if (stopping.signal.aborted) throw new ChildStartError(options.name, notStarted('it was stopped'));
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
      const runs = shown.state === 'ready' || shown.state === 'starting';
      return runs ? shown.run?.process.pid : undefined;
    },
    get restarts() {
      return shown.restarts;
    },
    get state() {
      return shown.state;
    },
    tell(line) {
      if (shown.state === 'ready') shown.run?.process.stdin?.write(`${line}\n`);
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

async function prepare(options: ChildOptions): Promise<void> {
  try {
    await options.prepare?.();
  } catch (error) {
    throw new ChildStartError(
      options.name,
      notStarted(error instanceof Error ? error.message : String(error)),
    );
  }
}

function notStarted(reason: string): ChildExit {
  return { code: null, signal: null, errorLines: [reason] };
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
    options.log.info({ childPid: run.process.pid }, `${options.name} restarted`);
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

/** Exponential from 20 ms to 10 s; jitter keeps two children from restarting in step. */
function backOffMs(failures: number): number {
  const full = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** failures);
  return full / 2 + (Math.random() * full) / 2;
}

/**
 * Resolves when the child has ended, by itself or because it stopped answering. Does not race against `exited`: each race would
 * leave a reaction on a promise that lives as long as the child. The child's exit aborts the pause instead.
 */
async function watch(run: Run, options: ChildOptions, stopping: AbortSignal): Promise<ChildExit> {
  if (options.alive === undefined) return run.exited;
  const over = new AbortController();
  const end = (): void => over.abort();
  stopping.addEventListener('abort', end, { once: true });
  if (stopping.aborted) end();
  const exited = run.exited.finally(end);
  let misses = 0;
  while (!over.signal.aborted) {
    await sleep(options.aliveEveryMs ?? ALIVE_EVERY_MS, undefined, { signal: over.signal }).catch(
      () => undefined, // an abort only ends the pause
    );
    if (over.signal.aborted) break;
    misses = (await isTrue(options.alive)) ? 0 : misses + 1;
    if (misses >= (options.aliveMissesMax ?? ALIVE_MISSES_MAX)) {
      options.log.error({ childPid: run.process.pid }, `${options.name} does not answer and is killed`);
      run.process.kill('SIGKILL');
    }
  }
  stopping.removeEventListener('abort', end);
  return exited;
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

async function isTrue(question: () => Promise<boolean>): Promise<boolean> {
  try {
    return await question();
  } catch {
    return false; // "not yet": the caller counts misses and has a deadline
  }
}
