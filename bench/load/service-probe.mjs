import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into the process of the service before its own code: reports its memory and its event loop over the channel of the parent
 * (`Vitals` of stage.ts). The service itself has no part in it. Plain JavaScript, because Node also loads it into the service's
 * threads, which have no TypeScript loader.
 */

const RESOLUTION_MS = 5;
const NS_PER_MS = 1e6;
const MIB = 1024 ** 2;

if (isMainThread) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  process.on('message', ({ collect }) => {
    // Twice: objects with a finalizer are freed by the second.
    if (collect) {
      globalThis.gc?.();
      globalThis.gc?.();
    }
    const { rss, heapUsed } = process.memoryUsage();
    const late = (ns) => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS);
    process.send?.({
      rss: rss / MIB,
      heap: heapUsed / MIB,
      loopP99Ms: late(histogram.percentile(99)),
      loopMaxMs: late(histogram.max),
    });
    histogram.reset();
  });
  // The channel must not keep a stopping service alive.
  process.channel?.unref();
}
