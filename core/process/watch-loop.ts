import { readFileSync } from 'node:fs';
import inspector from 'node:inspector';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';

/**
 * Ends a process whose event loop stands still: a thread watches the beats of the loop, logs what was being read, and ends the process
 * by the signal `STOOD_STILL`. Its supervisor starts it again (docs/operators.md, "When the event loop stands still").
 */
export interface LoopWatchOptions {
  readonly log: Log;
  /** Of the process, as its log has it. */
  readonly name: string;
  /** Where it is counted across starts; nothing is counted where it cannot be written. */
  readonly dataDir: string;
  /** How long the loop may stand still. */
  readonly limitMs: number;
  /** Of request-marks.ts; null for a process without requests. */
  readonly marks: SharedArrayBuffer | null;
}

/** The thread gets this at its start. */
export interface LoopThreadData extends Omit<LoopWatchOptions, 'log'> {
  readonly logLevel: string;
  /** Beats of the loop, and whether a debugger is open, which may stop the loop for as long as it likes. */
  readonly beats: SharedArrayBuffer;
}

/**
 * Its default action ends a process at once, whatever the loop does, and dumps no core; nothing else sends it. Shells and containers
 * report it as exit code 142.
 */
export const STOOD_STILL = 'SIGALRM';
/** Longer than any turn that was measured, by a factor of 20; above the pauses of a garbage collection of 4 GiB. */
export const API_LOOP_LIMIT_MS = 10_000;
/** Workers read no text of callers; parsing the largest answer of a node takes some seconds. */
export const WORKER_LOOP_LIMIT_MS = 60_000;

export const BEAT = 0;
export const DEBUGGED = 1;
const BEAT_EVERY_MS = 250;

export function watchLoop({ log, ...options }: LoopWatchOptions): void {
  const beats = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const shared = new Int32Array(beats);
  setInterval(() => {
    Atomics.store(shared, DEBUGGED, inspector.url() === undefined ? 0 : 1);
    Atomics.add(shared, BEAT, 1);
  }, BEAT_EVERY_MS).unref();
  const file = extname(import.meta.url) === '.ts' ? './loop-thread-from-source.mjs' : './loop-thread.js';
  const workerData: LoopThreadData = { ...options, logLevel: log.level, beats };
  const thread = new Worker(new URL(file, import.meta.url), { workerData });
  thread.unref();
  thread.once('error', (err) => log.error({ err }, 'the event loop is not watched any more'));
}

export function loopStopsFile(dataDir: string): string {
  return join(dataDir, 'loop-stops');
}

/** How often processes over this data directory were ended because their loop stood still. */
export function loopStops(dataDir: string): number {
  try {
    const count = Number(readFileSync(loopStopsFile(dataDir), 'utf8'));
    return Number.isSafeInteger(count) ? count : 0;
  } catch {
    return 0; // It never happened, or nothing can be kept there.
  }
}
