import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface EventLoopDelay {
  /** Longest time the loop was late, milliseconds: by its own work, or because the machine gave it no core. */
  readonly maxMs: number;
  /** The same without the time for which the thread was ready and waited for a core. Where Linux does not tell, `maxMs`. */
  readonly blockedMaxMs: number;
  readonly p99Ms: number;
  readonly p50Ms: number;
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
  const blocked = watchBlocking();
  histogram.enable();
  const late = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS);
  return {
    stop() {
      histogram.disable();
      clearInterval(timer);
      const maxMs = late(histogram.max);
      return {
        maxMs,
        blockedMaxMs: blocked.stop() ?? maxMs,
        p99Ms: late(histogram.percentile(99)),
        p50Ms: late(histogram.percentile(50)),
        rssMaxMib: rssMax / 1024 ** 2,
      };
    },
  };
}

/** Nanoseconds that this process's main thread had a core, and those that it waited for one: the scheduler's own count. */
const SCHEDULER_COUNT = `/proc/self/task/${process.pid}/schedstat`;

/** Longest lateness of a timer that was not spent waiting for a core, milliseconds; null where that is not known. */
function watchBlocking(): { stop(): number | null } {
  let maxMs = 0;
  let atMs = performance.now();
  let waitedMs = waitedForCoreMs();
  if (waitedMs === null) return { stop: () => null };
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const waitedNowMs = waitedForCoreMs() ?? 0;
    maxMs = Math.max(maxMs, nowMs - atMs - RESOLUTION_MS - (waitedNowMs - (waitedMs ?? 0)));
    atMs = nowMs;
    waitedMs = waitedNowMs;
  }, RESOLUTION_MS);
  return {
    stop() {
      clearInterval(timer);
      return maxMs;
    },
  };
}

function waitedForCoreMs(): number | null {
  try {
    return Number(readFileSync(SCHEDULER_COUNT, 'latin1').split(' ')[1]) / NS_PER_MS;
  } catch {
    return null; // not Linux, or without its statistics
  }
}
