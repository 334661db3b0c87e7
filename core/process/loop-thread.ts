import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { setInterval } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { createLog, type LogLevel } from '../log.ts';
import { readRequestMarks } from './request-marks.ts';
import { BEAT, DEBUGGED, type LoopThreadData, loopStops, loopStopsFile, STOOD_STILL } from './watch-loop.ts';

/** Entry of the thread of watch-loop.ts. */

const LOOKS_PER_LIMIT = 20;
const STDERR = 2;
const NANOSECONDS_PER_MS = 1_000_000;
/** On a machine that is busy with other things the limit becomes longer, at most by this factor. */
const BUSY_FACTOR_MAX = 3;

const { logLevel, name, dataDir, limitMs, marks, beats } = workerData as LoopThreadData; // by watchLoop
const shared = new Int32Array(beats);
const lookEveryMs = limitMs / LOOKS_PER_LIMIT;
let seen = { beat: 0, atMs: performance.now(), waitedMs: waitedMs() };
let stoodMs = 0;
for await (const _ of setInterval(lookEveryMs)) {
  const now = { beat: Atomics.load(shared, BEAT), atMs: performance.now(), waitedMs: waitedMs() };
  // A machine that was suspended, a stopped process: this thread stood still too, so a look counts no more than its own length.
  const passedMs = Math.min(now.atMs - seen.atMs, lookEveryMs);
  const isBeating = now.beat !== seen.beat || Atomics.load(shared, DEBUGGED) === 1;
  const ownMs = Math.max(passedMs - (now.waitedMs - seen.waitedMs), passedMs / BUSY_FACTOR_MAX);
  stoodMs = isBeating ? 0 : stoodMs + ownMs;
  seen = now;
  if (stoodMs >= limitMs) endProcess();
}

/**
 * How long the thread of the loop was ready to run and other processes had the processor, which is not its fault. Linux counts it; the
 * thread of the loop has the number of the process. 0 where the system does not say.
 */
function waitedMs(): number {
  try {
    const [, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(waited) / NANOSECONDS_PER_MS;
  } catch {
    return 0;
  }
}

function endProcess(): void {
  const requests = marks === null ? [] : readRequestMarks(marks);
  // Written at once: the stream of pino keeps a line for later now and then, and there is no later.
  const stderr = { write: (line: string) => void writeSync(STDERR, line) };
  createLog(logLevel as LogLevel, name, stderr).fatal(
    { stoodMs: Math.round(stoodMs), requests },
    'the event loop stood still, so this process is ended; its supervisor starts it again',
  );
  try {
    writeFileSync(loopStopsFile(dataDir), String(loopStops(dataDir) + 1));
  } catch {
    // A directory that cannot be written: the log has said it.
  }
  process.kill(process.pid, STOOD_STILL);
}
