import { setTimeout as delay } from 'node:timers/promises';
import { type Job, Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Log } from '../../../core/log.ts';
import {
  JOB_ATTEMPTS_MAX,
  JOB_FIRST_PAUSE_MS,
  type JobQueue,
  NO_WORK,
  type RangeJob,
  type WorkDone,
  type WorkOptions,
} from '../job-queue.ts';

/** How long a dead worker keeps a job, and how often others look for such jobs. */
const LOCK_MS = 10_000;
const STALLED_EVERY_MS = 5_000;
/** A job that lost its worker this often is given up and planned again. */
const STALLED_MAX = 10;
/** BullMQ's own 15 seconds would keep a worker idle long after Redis is back. */
const RETRY_AFTER_ERROR_MS = 500;
/** Range of priorities in BullMQ: 21 bits, and 0 means unprioritised. */
const PRIORITY_MAX = 2 ** 21 - 1;
/** An unreachable Redis must not keep a process from ending. */
const CLOSE_WITHIN_MS = 2_000;
/** Cap of BullMQ's event stream, which nothing here reads. */
const EVENTS_KEPT_MAX = 100;
const FIGURES = Object.keys(NO_WORK) as (keyof WorkDone)[]; // its keys, by its type
const COLLECT = `
local figures = redis.call('HGETALL', KEYS[1])
redis.call('DEL', KEYS[1])
return figures`;

/** Tests shorten them. */
export interface QueueTimes {
  readonly lockMs: number;
  readonly stalledEveryMs: number;
  readonly firstPauseMs: number;
}

const QUEUE_TIMES: QueueTimes = {
  lockMs: LOCK_MS,
  stalledEveryMs: STALLED_EVERY_MS,
  firstPauseMs: JOB_FIRST_PAUSE_MS,
};

/** A job as JSON: numbers of 64 bits as text. */
interface JobData {
  readonly ranges: RangeJob['ranges'];
  readonly epoch: string;
  readonly versionFloor: string;
  readonly rank: number;
}

/** Jobs in Redis, for any number of processes. Its keys begin with `<keyPrefix>:{ingest}:`. */
export function bullmqQueue(deps: {
  /** Commands on it fail at once while Redis is unreachable. */
  readonly redis: Redis;
  /** Commands on it wait until Redis is back. */
  readonly waitingRedis: Redis;
  readonly keyPrefix: string;
  /** Of letters, digits, `-` and `_`. */
  readonly name: string;
  readonly log: Log;
  readonly times?: QueueTimes;
}): JobQueue & { close(): Promise<void> } {
  const { redis, waitingRedis, name, log, times = QUEUE_TIMES } = deps;
  const prefix = `${deps.keyPrefix}:{ingest}`;
  const figuresKey = `${prefix}:${name}:work`;
  const queue = new Queue<JobData>(name, {
    connection: redis,
    prefix,
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENTS_KEPT_MAX } },
    defaultJobOptions: {
      attempts: JOB_ATTEMPTS_MAX,
      backoff: { type: 'exponential', delay: times.firstPauseMs },
      removeOnComplete: true,
      removeOnFail: true,
    },
  });
  // Its connection logs when Redis goes and comes (core/redis-client.ts).
  queue.on('error', () => undefined);

  return {
    isShared: true,
    async add(jobs) {
      await queue.addBulk(
        jobs.map((job) => ({
          name: 'range',
          data: dataOf(job),
          opts: { jobId: job.id, priority: Math.min(PRIORITY_MAX, 1 + job.rank) },
        })),
      );
    },
    async open() {
      const jobs = await queue.getJobs(['active', 'prioritized', 'waiting', 'delayed']);
      // A job that ended between listing and reading has no data.
      return jobs.flatMap((job) => jobOf(job) ?? []);
    },
    clear: () => queue.drain(true),
    work: (options) => work({ name, prefix, waitingRedis, log, times }, options),
    async report(done) {
      const pipeline = redis.pipeline();
      for (const figure of FIGURES) pipeline.hincrby(figuresKey, figure, done[figure]);
      await pipeline.exec();
    },
    async collect() {
      return readFigures(await redis.eval(COLLECT, 1, figuresKey));
    },
    close: () => within(queue.close()),
  };
}

async function work(
  deps: {
    readonly name: string;
    readonly prefix: string;
    readonly waitingRedis: Redis;
    readonly log: Log;
    readonly times: QueueTimes;
  },
  { jobsAtOnce, signal, handle }: WorkOptions,
): Promise<void> {
  const { name, prefix, waitingRedis, log, times } = deps;
  if (signal.aborted) return;
  const worker = new Worker<JobData>(
    name,
    async (job) => {
      const range = jobOf(job);
      if (range !== null) await handle(range, signal);
    },
    {
      connection: waitingRedis,
      prefix,
      concurrency: jobsAtOnce,
      lockDuration: times.lockMs,
      stalledInterval: times.stalledEveryMs,
      maxStalledCount: STALLED_MAX,
      runRetryDelay: RETRY_AFTER_ERROR_MS,
      skipVersionCheck: true,
    },
  );
  worker.on('error', (error) => log.debug({ queue: name, kind: error.name }, 'error in the job queue'));
  worker.on('stalled', (jobId) => log.warn({ queue: name, job: jobId }, 'a job lost its worker'));
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  // Running jobs see the same signal and end; without the limit an unreachable Redis would block this forever.
  await within(worker.close());
  await within(worker.close(true));
}

async function within(closing: Promise<void>): Promise<void> {
  await Promise.race([closing.catch(() => undefined), delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
}

function dataOf({ ranges, epoch, versionFloor, rank }: RangeJob): JobData {
  return { ranges, epoch: String(epoch), versionFloor: String(versionFloor), rank };
}

function jobOf({ id, data }: Job<JobData>): RangeJob | null {
  if (id === undefined || !Array.isArray(data?.ranges)) return null;
  const { ranges, epoch, versionFloor, rank } = data;
  return { id, ranges, epoch: BigInt(epoch), versionFloor: BigInt(versionFloor), rank };
}

function readFigures(answer: unknown): WorkDone {
  const flat: unknown[] = Array.isArray(answer) ? answer : [];
  const figure = (name: keyof WorkDone): number => Number(flat[flat.indexOf(name) + 1] ?? 0);
  if (flat.length === 0) return NO_WORK;
  return {
    rows: figure('rows'),
    blocks: figure('blocks'),
    portalBlocks: figure('portalBlocks'),
    deadLetters: figure('deadLetters'),
    retries: figure('retries'),
    contradictions: figure('contradictions'),
  };
}
