import { setTimeout as delay } from 'node:timers/promises';
import {
  addWork,
  JOB_ATTEMPTS_MAX,
  JOB_FIRST_PAUSE_MS,
  type JobQueue,
  NO_WORK,
  type RangeJob,
  type WorkDone,
  type WorkOptions,
} from './job-queue.ts';

interface OpenJob {
  readonly job: RangeJob;
  readonly arrival: number;
  attempts: number;
  /** `pausing`: between two attempts. */
  state: 'waiting' | 'running' | 'pausing';
}

/** Jobs in the memory of the one process that plans them and works on them. */
export function createMemoryQueue(firstPauseMs = JOB_FIRST_PAUSE_MS): JobQueue {
  const jobs = new Map<string, OpenJob>();
  const wakers = new Set<() => void>();
  let arrivals = 0;
  let done: WorkDone = NO_WORK;

  const wake = (): void => {
    for (const waker of wakers) waker();
    wakers.clear();
  };
  const next = (): OpenJob | undefined =>
    [...jobs.values()]
      .filter(({ state }) => state === 'waiting')
      .sort((a, b) => a.job.rank - b.job.rank || a.arrival - b.arrival)[0];
  const untilWoken = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const woken = (): void => {
        signal.removeEventListener('abort', woken);
        wakers.delete(woken);
        resolve();
      };
      wakers.add(woken);
      signal.addEventListener('abort', woken, { once: true });
    });
  const retry = async (open: OpenJob, signal: AbortSignal): Promise<void> => {
    open.state = 'pausing';
    await delay(firstPauseMs * 2 ** (open.attempts - 1), undefined, { signal }).catch(() => undefined);
    open.state = 'waiting';
    wake();
  };
  const run = async (open: OpenJob, { handle, signal }: WorkOptions): Promise<void> => {
    open.state = 'running';
    open.attempts += 1;
    try {
      await handle(open.job, signal);
      jobs.delete(open.job.id);
    } catch {
      // The handler has logged what happened; here it is only decided whether to try again.
      if (open.attempts >= JOB_ATTEMPTS_MAX) jobs.delete(open.job.id);
      else void retry(open, signal);
    }
  };
  const runOneAfterAnother = async (options: WorkOptions): Promise<void> => {
    while (!options.signal.aborted) {
      const open = next();
      if (open === undefined) await untilWoken(options.signal);
      else await run(open, options);
    }
  };

  return {
    isShared: false,
    async add(more) {
      for (const job of more)
        if (!jobs.has(job.id)) jobs.set(job.id, { job, arrival: arrivals++, attempts: 0, state: 'waiting' });
      wake();
    },
    open: async () => [...jobs.values()].map(({ job }) => job),
    async clear() {
      for (const [id, { state }] of jobs) if (state !== 'running') jobs.delete(id);
    },
    async work(options) {
      await Promise.all(Array.from({ length: options.jobsAtOnce }, () => runOneAfterAnother(options)));
    },
    async report(work) {
      done = addWork(done, work);
    },
    async collect() {
      const collected = done;
      done = NO_WORK;
      return collected;
    },
  };
}
