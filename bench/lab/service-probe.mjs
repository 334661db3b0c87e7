import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into the process of the service before its own code: reports its memory and its event loop over the channel of the parent
 * (`Vitals` of service.ts). The service itself has no part in it. Plain JavaScript, because Node also loads it into the service's
 * threads, which have no TypeScript loader.
 */

const RESOLUTION_MS = 5;
const NS_PER_MS = 1e6;
const MIB = 1024 ** 2;
/** Nanoseconds that this process's main thread had a core, and those that it waited for one: the scheduler's own count. */
const SCHEDULER_COUNT = `/proc/self/task/${process.pid}/schedstat`;

/** Null where it is not Linux, or without its statistics. */
function waitedForCoreMs() {
  try {
    return Number(readFileSync(SCHEDULER_COUNT, 'latin1').split(' ')[1]) / NS_PER_MS;
  } catch {
    return null;
  }
}

/** Longest lateness of a timer that was not spent waiting for a core, milliseconds, since the last question. */
function watchBlocking() {
  let maxMs = 0;
  let atMs = performance.now();
  let waitedMs = waitedForCoreMs();
  setInterval(() => {
    const nowMs = performance.now();
    const waitedNowMs = waitedForCoreMs();
    maxMs = Math.max(maxMs, nowMs - atMs - RESOLUTION_MS - (waitedNowMs - waitedMs));
    atMs = nowMs;
    waitedMs = waitedNowMs;
  }, RESOLUTION_MS).unref();
  return () => {
    const answer = maxMs;
    maxMs = 0;
    return answer;
  };
}

if (isMainThread) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let blockedMaxMs = () => null;
  process.on('message', ({ collect, watchesBlocking }) => {
    if (watchesBlocking) blockedMaxMs = watchBlocking();
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
      blockedMaxMs: blockedMaxMs(),
    });
    histogram.reset();
  });
  // The channel must not keep a stopping service alive.
  process.channel?.unref();
}
