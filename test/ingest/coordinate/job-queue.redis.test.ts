import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { closeQuietly, createRedis } from '../../../core/redis-client.ts';
import { createMemoryQueue } from '../../../ingest/coordinate/engine.ts';
import { bullmqQueue } from '../../../ingest/coordinate/redis/queue.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { watchedLog } from '../../kit/secrets-watch.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import { job, jobQueueContract } from './job-queue.ts';

const FIRST_PAUSE_MS = 5;
const KEY_PREFIX = 'queue-test';

jobQueueContract('the queue in memory', async () => {
  const queues = new Map<string, ReturnType<typeof createMemoryQueue>>();
  return {
    queueOf(name) {
      const queue = queues.get(name) ?? createMemoryQueue(FIRST_PAUSE_MS);
      queues.set(name, queue);
      return queue;
    },
    close: () => Promise.resolve(),
  };
});

/** Queues over one server, as a process has them. */
function openQueues(url: string) {
  const hasty = createRedis(url, {
    commandTimeout: 2_000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  });
  const patient = createRedis(url, { enableOfflineQueue: true, maxRetriesPerRequest: null });
  for (const redis of [hasty, patient]) redis.on('error', () => undefined);
  const queues: ReturnType<typeof bullmqQueue>[] = [];
  return {
    queueOf(name: string) {
      const queue = bullmqQueue({
        redis: hasty,
        waitingRedis: patient,
        keyPrefix: KEY_PREFIX,
        name,
        log: watchedLog('queue', 'error'),
        times: { lockMs: 400, stalledEveryMs: 200, firstPauseMs: FIRST_PAUSE_MS },
      });
      queues.push(queue);
      return queue;
    },
    ready: () => waitUntil('Redis is connected', () => hasty.status === 'ready'),
    flush: () => hasty.flushall(),
    keys: () => hasty.keys('*'),
    async close() {
      await Promise.all(queues.map((queue) => queue.close()));
      await Promise.all([closeQuietly(hasty), closeQuietly(patient)]);
    },
  };
}

describe.skipIf(!redisIsThere())('over Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer(['--appendonly', 'no']);
  });
  afterAll(() => server?.stop());

  jobQueueContract('the queue of BullMQ', async () => {
    const queues = openQueues(server.url);
    await queues.ready();
    return queues;
  });

  describe('trouble', () => {
    const closing: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
    });
    const opened = async () => {
      const queues = openQueues(server.url);
      closing.push(() => queues.close());
      await queues.ready();
      return queues;
    };
    const working = (queue: ReturnType<typeof bullmqQueue>, done: string[]): void => {
      const stopping = new AbortController();
      const ended = queue.work({
        jobsAtOnce: 1,
        signal: stopping.signal,
        handle: async ({ id }) => void done.push(id),
      });
      closing.push(() => {
        stopping.abort();
        return ended;
      });
    };

    test('a job whose worker is killed is begun anew by another one', async () => {
      const queues = await opened();
      const queue = queues.queueOf('killed');
      await queue.add([job(1)]);
      const child = fork(
        new URL('../../kit/queue-child.ts', import.meta.url),
        [server.url, KEY_PREFIX, 'killed'],
        {
          execArgv: ['--import', 'tsx'],
        },
      );
      await once(child, 'message'); // it has begun
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      expect((await queue.open()).map(({ id }) => id)).toEqual(['job-1']);
      const done: string[] = [];
      working(queue, done);
      await waitUntil('another one has done it', () => done.length === 1);
      await waitUntil('it is closed', async () => (await queue.open()).length === 0);
    });

    test('a Redis that was emptied has lost its jobs and takes new ones, also of workers that waited', async () => {
      const queues = await opened();
      const queue = queues.queueOf('emptied');
      const done: string[] = [];
      await queue.add([job(1)]);
      await queues.flush();
      expect(await queue.open()).toEqual([]);
      working(queue, done);
      await queue.add([job(2)]);
      await waitUntil('the new one is done', () => done.includes('job-2'));
      await queues.flush();
      await queue.add([job(3)]);
      await waitUntil('the next one is done', () => done.includes('job-3'));
    });

    test('while Redis is down adding fails at once, and workers go on when it is back', async () => {
      const queues = await opened();
      const queue = queues.queueOf('down');
      const done: string[] = [];
      working(queue, done);
      await queue.add([job(1)]);
      await waitUntil('the first is done', () => done.length === 1);
      await server.kill();
      await expect(queue.add([job(2)])).rejects.toThrow();
      await server.start();
      await waitUntil('it can be added again', async () => {
        return queue.add([job(2)]).then(
          () => true,
          () => false,
        );
      });
      await waitUntil('the second is done', () => done.includes('job-2'));
    });

    test('every key begins with the prefix of the configuration and lies in one slot', async () => {
      const queues = await opened();
      await queues.flush();
      const queue = queues.queueOf('keys');
      await queue.add([job(1)]);
      await queue.report({
        rows: 1,
        blocks: 1,
        portalBlocks: 1,
        deadLetters: 0,
        retries: 0,
        contradictions: 0,
      });
      const keys = await queues.keys();
      expect(keys.length).toBeGreaterThan(1);
      expect(keys.filter((key) => !key.startsWith(`${KEY_PREFIX}:{ingest}:`))).toEqual([]);
    });
  });
});
