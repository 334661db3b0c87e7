import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { WITH_US } from '../../test/kit/with-us.ts';
import type { Workspace } from './run.ts';

/** A program that must not outlive the bench: the kernel ends it with us, the workspace at the end. */
interface BenchProcess {
  readonly pid: number | undefined;
  /** Settles with the exit code once the process has ended. */
  readonly exited: Promise<number>;
  /** Its last lines of output, from both streams. */
  readonly lastLines: () => readonly string[];
  /** Writes to its standard input. */
  write(text: string): void;
  /** Kills it; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** Each line of its standard output. */
  onLine?(line: string): unknown;
}

const LAST_LINES_MAX = 20;

export function startProcess(workspace: Workspace, options: ProcessOptions): BenchProcess {
  const lines: string[] = [];
  const [command = '', ...args] = [...WITH_US, options.command, ...options.args];
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // Ctrl-C reaches the bench alone, which ends everything in order
  });
  child.stdin.on('error', () => undefined); // EPIPE when the program ended first; `exited` tells
  const keep = (line: string): void => {
    lines.push(line);
    if (lines.length > LAST_LINES_MAX) lines.shift();
  };
  createInterface({ input: child.stderr }).on('line', keep);
  createInterface({ input: child.stdout }).on('line', (line) => {
    keep(line);
    options.onLine?.(line);
  });
  const exited = new Promise<number>((resolve) => {
    child.once('error', ({ message }) => {
      keep(message);
      resolve(1);
    });
    child.once('close', (code) => resolve(code ?? 1));
  });
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL'); // with what it started itself
    await exited;
  };
  workspace.defer(stop);
  return { pid: child.pid, exited, lastLines: () => lines, write: (text) => child.stdin.write(text), stop };
}

/** A Node program of ours that answers a line of JSON with a line of JSON. */
interface LineProcess {
  ask<Reply>(question: unknown): Promise<Reply>;
  /** The next line, without a question. */
  next<Reply>(): Promise<Reply>;
}

export function startLineProcess(workspace: Workspace, args: readonly string[], cwd?: string): LineProcess {
  const lines: string[] = [];
  let arrived = (): void => undefined;
  const onLine = (line: string): void => {
    lines.push(line);
    arrived();
  };
  const child = startProcess(workspace, { command: process.execPath, args, cwd, onLine });
  const ended = child.exited.then((code): never => {
    throw new Error(`${args.at(-1)} ended with ${code}: ${child.lastLines().join(' / ')}`);
  });
  ended.catch(() => undefined); // the caller that waits for a line gets the error
  const next = async <Reply>(): Promise<Reply> => {
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    if (lines.length === 0) await Promise.race([arrival, ended]);
    return JSON.parse(lines.shift() ?? '') as Reply; // our own scripts say what they print
  };
  return {
    next,
    ask: (question) => {
      child.write(`${JSON.stringify(question)}\n`);
      return next();
    },
  };
}

const INSTALL_TIMEOUT_MS = 300_000;
const INSTALL = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];

/**
 * Installs the peer of a bench, a package of its own in `cwd`, when `file` does not exist yet. Answers the reason why it cannot be
 * installed, or undefined when it is there: an offline machine can still run everything else.
 */
export function installPeer(cwd: string, file: string): string | undefined {
  if (existsSync(join(cwd, file))) return undefined;
  console.log(`installing ${cwd} (once, about a minute)`);
  const npm = spawnSync('npm', INSTALL, { cwd, encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS });
  return npm.status === 0 ? undefined : `npm ci ended with ${npm.status}: ${npm.stderr}`;
}

/** The kernel's figures of a process, with all of its threads. */
interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentMib: number;
  readonly highestMib: number;
}

/** Linux counts processor time in hundredths of a second on every machine that this runs on. */
const TICKS_PER_SECOND = 100;
const KIB_PER_MIB = 1_024;

/** Throws for a process that is gone, and where there is no /proc. */
export function processFigures(pid: number | undefined): ProcessFigures {
  if (pid === undefined) throw new Error('the process is not there');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything; numbers follow it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0] = [fields[11], fields[12]].map(Number);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / KIB_PER_MIB;
  return {
    cpuSeconds: (user + system) / TICKS_PER_SECOND,
    residentMib: mebibytes('VmRSS'),
    highestMib: mebibytes('VmHWM'),
  };
}

/** Looks again and again while `work` runs. */
export async function sampleDuring<Result, Sample>(
  work: Promise<Result>,
  everyMs: number,
  look: () => Sample | Promise<Sample>,
): Promise<{ readonly result: Result; readonly samples: Sample[] }> {
  const samples: Sample[] = [];
  let isOver = false;
  const settle = (): void => {
    isOver = true;
  };
  work.then(settle, settle);
  while (!isOver) {
    samples.push(await look());
    await sleep(everyMs);
  }
  return { result: await work, samples };
}

interface EventLoopDelay {
  /** Longest time the loop was late, milliseconds: by its own work, or because the machine gave it no core. */
  readonly maxMs: number;
  readonly p99Ms: number;
  /** Highest resident set seen, MiB. */
  readonly rssMaxMib: number;
}

const RESOLUTION_MS = 5;
const RSS_EVERY_MS = 250;
const NS_PER_MS = 1e6;

/**
 * Watches this process until `stop()`. The histogram holds the time between two timer ticks, so the resolution is taken off:
 * what is left is how long the loop was blocked (or the machine gave the process no core).
 */
export function watchEventLoop(): { stop(): EventLoopDelay } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let rssMax = process.memoryUsage.rss();
  const timer = setInterval(() => {
    rssMax = Math.max(rssMax, process.memoryUsage.rss());
  }, RSS_EVERY_MS);
  histogram.enable();
  const late = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS);
  return {
    stop() {
      histogram.disable();
      clearInterval(timer);
      return {
        maxMs: late(histogram.max),
        p99Ms: late(histogram.percentile(99)),
        rssMaxMib: rssMax / 1024 ** 2,
      };
    },
  };
}
