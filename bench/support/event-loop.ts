import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface EventLoopDelay {
  /** Longest time the loop was late, milliseconds. */
  readonly maxMs: number;
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
  histogram.enable();
  const late = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS);
  return {
    stop() {
      histogram.disable();
      clearInterval(timer);
      return {
        maxMs: late(histogram.max),
        p99Ms: late(histogram.percentile(99)),
        p50Ms: late(histogram.percentile(50)),
        rssMaxMib: rssMax / 1024 ** 2,
      };
    },
  };
}
