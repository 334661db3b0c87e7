import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bullmqLine } from '../../../src/jobs/bullmq-line.ts';
import { type JobLine, polledLine } from '../../../src/jobs/line.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { watchedLog } from '../../kit/secrets-watch.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** What every line of jobs keeps to; the store is a list of runs that end when the test says so. */

const NEVER_MS = 3_600_000;
const log = watchedLog('job-line', 'error');
const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** Jobs that wait, as the control store has them. */
function waitingJobs() {
  const waiting: string[] = [];
  const open = new Map<string, () => void>();
  return {
    queue: (id: string) => void waiting.push(id),
    running: () => [...open.keys()],
    finish: (id: string) => open.get(id)?.(),
    claimNext: async () => {
      const id = waiting.shift();
      if (id === undefined) return null;
      return () =>
        new Promise<void>((resolve) => {
          open.set(id, () => {
            open.delete(id);
            resolve();
          });
        });
    },
  };
}

function startWorker(line: JobLine, jobs: ReturnType<typeof waitingJobs>, places = 1) {
  const stop = new AbortController();
  const working = line.work({ places, claimNext: jobs.claimNext, signal: stop.signal });
  ending.push(async () => {
    stop.abort();
    for (const id of jobs.running()) jobs.finish(id);
    await working;
    await line.close();
  });
  return { stop, working };
}

function lineContract(name: string, open: (lookEveryMs: number) => JobLine): void {
  describe(name, () => {
    test('a job that is announced is run', async () => {
      const jobs = waitingJobs();
      const line = open(NEVER_MS);
      startWorker(line, jobs);
      jobs.queue('one');
      line.announce();
      await waitUntil('it runs', () => jobs.running().length === 1);
    });

    test('a job that waited before the worker began is run', async () => {
      const jobs = waitingJobs();
      jobs.queue('one');
      startWorker(open(NEVER_MS), jobs);
      await waitUntil('it runs', () => jobs.running().length === 1);
    });

    test('a job that is never announced is found', async () => {
      const jobs = waitingJobs();
      startWorker(open(50), jobs);
      jobs.queue('one');
      await waitUntil('it runs', () => jobs.running().length === 1);
      jobs.finish('one');
      jobs.queue('two');
      await waitUntil('the next one runs', () => jobs.running().includes('two'));
    });

    test('no more than its places run at once, and the next one runs when a place is free', async () => {
      const jobs = waitingJobs();
      const line = open(NEVER_MS);
      startWorker(line, jobs, 2);
      for (const id of ['one', 'two', 'three']) {
        jobs.queue(id);
        line.announce();
      }
      await waitUntil('two run', () => jobs.running().length === 2);
      expect(jobs.running()).toEqual(['one', 'two']);
      jobs.finish('one');
      await waitUntil('the third runs', () => jobs.running().includes('three'));
      expect(jobs.running()).toEqual(['two', 'three']);
    });

    test('a line that stops waits for what runs, and takes nothing more', async () => {
      const jobs = waitingJobs();
      const line = open(50);
      const { stop, working } = startWorker(line, jobs);
      jobs.queue('one');
      line.announce();
      await waitUntil('it runs', () => jobs.running().length === 1);
      stop.abort();
      jobs.queue('two');
      line.announce();
      let isOver = false;
      void working.then(() => (isOver = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect(isOver).toBe(false);
      jobs.finish('one');
      await working;
      expect(jobs.running()).toEqual([]);
    });
  });
}

lineContract('the line of one process', (lookEveryMs) => polledLine(log, lookEveryMs));

describe.skipIf(!redisIsThere())('over Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  const openOver = (keyPrefix: string, lookEveryMs: number): JobLine =>
    bullmqLine({ url: server.url, keyPrefix, log, lookEveryMs });

  lineContract('the line of many processes', (lookEveryMs) => openOver(`p${randomUUID()}`, lookEveryMs));

  test('a job that is announced in a process without a free place is run by another at once', async () => {
    const jobs = waitingJobs();
    const prefix = `p${randomUUID()}`;
    const full = openOver(prefix, NEVER_MS);
    startWorker(full, jobs);
    jobs.queue('long');
    await waitUntil('the line is reached', async () => {
      full.announce();
      return jobs.running().includes('long');
    });
    startWorker(openOver(prefix, NEVER_MS), jobs);
    jobs.queue('short');
    full.announce();
    await waitUntil('the other process runs it', () => jobs.running().includes('short'));
    expect(jobs.running()).toEqual(['long', 'short']);
  });
});
