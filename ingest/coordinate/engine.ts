import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { createRateLimit, limitPerUrl } from '../chain/rpc/limits.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import { heldByOthers } from '../write/fence.ts';
import { createVersions, highestVersion, type Versions } from '../write/versions.ts';
import { type Coordination, type Held, type LeadContext, ownerName } from './coordination.ts';
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
import { type Lease, type Leases, lead } from './lead.ts';

/**
 * Coordination without Redis: one process does everything, with its jobs in memory. If other processes can reach the engine, it leads
 * each scope through table `fences`, and a second process stands by. An embedded engine of this process needs neither leases nor
 * fences, and its inserts carry no guards.
 */
export function engineCoordination({ isOwnEngine }: { readonly isOwnEngine: boolean }): Coordination {
  const owner = ownerName();
  const queues = new Map<string, JobQueue>();
  return {
    isShared: false,
    lead: isOwnEngine
      ? leadAlone()
      : (scope, deps, work) =>
          lead({ ...deps, leases: engineLeases(deps.writer, owner), owner }, scope, work),
    queueOf(name) {
      const queue = queues.get(name) ?? createMemoryQueue();
      queues.set(name, queue);
      return queue;
    },
    rateLimitOf: limitPerUrl((_url, perSecond) => createRateLimit(perSecond)),
    close: () => Promise.resolve(),
  };
}

/** Leads every scope at once. Reads versions only once, because that scans a column of every table and no other process writes. */
function leadAlone(): Coordination['lead'] {
  let reading: Promise<Versions> | undefined;
  return async (
    _scope: string,
    { writer, log, signal }: LeadContext,
    work: (held: Held) => Promise<void>,
  ) => {
    reading ??= untilAcknowledged(log, signal, () => highestVersion(writer)).then((version) =>
      createVersions(version),
    );
    await work({ guard: null, writer, versions: await reading, signal });
  };
}

/**
 * Leases from the heartbeats in table `fences`. A second process gets a lease when the first has been silent for a while. If two start
 * at the same moment both may get one; the fence then lets the later one write, and the other stops.
 */
export function engineLeases(writer: Pick<Writer, 'rows'>, owner: string): Leases {
  return {
    async tryAcquire(scope) {
      const others = await heldByOthers(writer, [scope], owner);
      return others.length > 0 ? null : leaseOn(scope);
    },
  };
}

/** The lease is lost only when another process claims the fence; the next write then fails. */
function leaseOn(scope: string): Lease {
  const ended = new AbortController();
  return {
    scope,
    token: 0n,
    signal: ended.signal,
    raise: () => Promise.resolve(),
    async release() {
      ended.abort();
    },
  };
}

interface OpenJob {
  readonly job: RangeJob;
  readonly arrival: number;
  attempts: number;
  /** `pausing`: between two attempts. */
  state: 'waiting' | 'running' | 'pausing';
}

/** Jobs in memory, for a single process that plans and runs them. */
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
      // The handler has logged the error; this only decides whether to retry.
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
