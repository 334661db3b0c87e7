import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import type { Log } from '../../core/log.ts';
import { closeQuietly, createRedis } from '../../core/redis-client.ts';
import { type JobLine, untilAborted } from './line.ts';

/**
 * Announcements over Redis, so that a job is taken at once by whichever process has a place, and idle processes ask nothing. Its keys
 * begin with `<keyPrefix>:sql-jobs:`. BullMQ carries announcements and no jobs: state, hold and claim of a job change under one rule,
 * in the control store.
 */

const QUEUE = 'announced';
const ANNOUNCEMENT = 'job';
/**
 * A process may die between queueing a job and announcing it, and one that runs a job announces nothing when it dies. So one look in
 * this time is announced for all processes together.
 */
const LOOK_EVERY_MS = 5_000;
const COMMAND_TIMEOUT_MS = 2_000;
/** Above the ten seconds for which BullMQ lets a command block. */
const WAITING_TIMEOUT_MS = 20_000;
/** BullMQ's own 15 seconds would keep a worker idle long after Redis is back. */
const RETRY_AFTER_ERROR_MS = 500;
/** An unreachable Redis must not keep a process from ending. */
const CLOSE_WITHIN_MS = 2_000;
/** Cap of BullMQ's event stream, which nothing here reads. */
const EVENTS_KEPT_MAX = 100;

export function bullmqLine(deps: {
  readonly url: string;
  readonly keyPrefix: string;
  readonly log: Log;
  /** Tests shorten or lengthen it. */
  readonly lookEveryMs?: number;
}): JobLine {
  const { url, log, lookEveryMs = LOOK_EVERY_MS } = deps;
  const prefix = `${deps.keyPrefix}:sql-jobs`;
  const redis = createRedis(url, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  });
  const waitingRedis = createRedis(url, {
    commandTimeout: WAITING_TIMEOUT_MS,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  });
  // The control store, on the same Redis, logs when it goes and comes.
  for (const connection of [redis, waitingRedis]) connection.on('error', () => undefined);
  const queue = new Queue(QUEUE, {
    connection: redis,
    prefix,
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENTS_KEPT_MAX } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', () => undefined);
  const add = (options?: { readonly deduplication: { readonly id: string; readonly ttl: number } }): void => {
    queue
      .add(ANNOUNCEMENT, {}, options)
      .catch((error: unknown) => log.debug({ err: error }, 'a job could not be announced; it is looked for'));
  };
  const addLook = (): void => add({ deduplication: { id: 'look', ttl: lookEveryMs } });

  return {
    announce: () => add(),
    work: async ({ places, claimNext, signal }) => {
      const running = new Set<Promise<void>>();
      const worker = new Worker(
        QUEUE,
        async () => {
          const run = signal.aborted ? null : await claimNext();
          if (run === null) return;
          const ended = run().finally(() => running.delete(ended));
          running.add(ended);
          await ended;
        },
        {
          connection: waitingRedis,
          prefix,
          concurrency: places,
          runRetryDelay: RETRY_AFTER_ERROR_MS,
          skipVersionCheck: true,
        },
      );
      worker.on('error', (error) => log.debug({ kind: error.name }, 'error in the announcements of jobs'));
      const timer = setInterval(addLook, lookEveryMs).unref();
      addLook();
      await untilAborted(signal);
      clearInterval(timer);
      // Takes no more announcements from here on, so that a job that is put back is announced to other processes.
      const closing = worker.close();
      await Promise.all(running);
      await within(closing);
      await within(worker.close(true));
    },
    close: async () => {
      await within(queue.close());
      await Promise.all([closeQuietly(redis), closeQuietly(waitingRedis)]);
    },
  };
}

async function within(closing: Promise<void>): Promise<void> {
  await Promise.race([closing.catch(() => undefined), delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
}
