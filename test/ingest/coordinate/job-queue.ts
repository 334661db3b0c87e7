import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  JOB_ATTEMPTS_MAX,
  type JobQueue,
  NO_WORK,
  type RangeJob,
} from '../../../ingest/coordinate/job-queue.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** What every job queue promises; its contract in words stands at the port. */

export interface QueueWorld {
  /** A queue of this name, over and over the same jobs; pauses between attempts are a few milliseconds. */
  queueOf(name: string): JobQueue;
  close(): Promise<void>;
}

let names = 0;

export function job(from: number, fields: Partial<RangeJob> = {}): RangeJob {
  const ranges = [{ from, to: from + 9 }];
  return { id: `job-${from}`, ranges, epoch: 7n, versionFloor: 2n ** 60n, rank: 0, ...fields };
}

/** Works until the test ends or `stop` is called; `done` has the ids in the order in which they were begun. */
function startWork(
  queue: JobQueue,
  handle: (job: RangeJob, signal: AbortSignal) => Promise<void>,
  jobsAtOnce = 1,
): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const working = queue.work({ jobsAtOnce, signal: stopping.signal, handle });
  return {
    async stop() {
      stopping.abort();
      await working;
    },
  };
}

export function jobQueueContract(title: string, open: () => Promise<QueueWorld>): void {
  describe(title, () => {
    let world: QueueWorld;
    const workers: { readonly stop: () => Promise<void> }[] = [];
    const fresh = (): JobQueue => world.queueOf(`contract-${names++}`);
    const work = (...given: Parameters<typeof startWork>) => {
      const worker = startWork(...given);
      workers.push(worker);
      return worker;
    };
    beforeAll(async () => {
      world = await open();
    });
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    });
    afterAll(() => world?.close());

    test('a job arrives as it was given, and is open until it is done', async () => {
      const queue = fresh();
      const given = job(10, {
        ranges: [
          { from: 10, to: 12 },
          { from: 15, to: 15 },
        ],
        rank: 3,
      });
      await queue.add([given]);
      expect(await queue.open()).toEqual([given]);
      let seen: { job: RangeJob; open: readonly RangeJob[] } | null = null;
      work(queue, async (one) => {
        seen = { job: one, open: await queue.open() };
      });
      await waitUntil('nothing is open', async () => (await queue.open()).length === 0);
      expect(seen).toEqual({ job: given, open: [given] });
    });

    test('a job that is added twice is one job, and may be added again once it is done', async () => {
      const queue = fresh();
      await queue.add([job(1), job(1)]);
      await queue.add([job(1)]);
      let runs = 0;
      work(queue, async () => {
        runs += 1;
      });
      await waitUntil('nothing is open', async () => (await queue.open()).length === 0);
      expect(runs).toBe(1);
      await queue.add([job(1)]);
      await waitUntil('it is done again', async () => runs === 2);
    });

    test('low ranks come first, and within a rank the earliest job', async () => {
      const queue = fresh();
      await queue.add([job(1, { rank: 9 }), job(2, { rank: 0 }), job(3, { rank: 0 }), job(4, { rank: 5 })]);
      const order: string[] = [];
      work(queue, async ({ id }) => void order.push(id));
      await waitUntil('all are done', () => order.length === 4);
      expect(order).toEqual(['job-2', 'job-3', 'job-4', 'job-1']);
    });

    test('no more jobs are under way than are asked for', async () => {
      const queue = fresh();
      await queue.add([1, 2, 3, 4, 5, 6].map((from) => job(from)));
      let running = 0;
      let most = 0;
      let done = 0;
      const release: (() => void)[] = [];
      work(
        queue,
        async () => {
          most = Math.max(most, ++running);
          await new Promise<void>((resolve) => release.push(resolve));
          running -= 1;
          done += 1;
        },
        2,
      );
      await waitUntil('all are done', () => {
        if (running === 2 || done >= 5) for (const end of release.splice(0)) end();
        return done === 6;
      });
      expect(most).toBe(2);
    });

    test('a job that fails is tried again and then given up, and is open until then', async () => {
      const queue = fresh();
      let attempts = 0;
      let closed = 0;
      await queue.add([job(1)]);
      work(queue, async ({ id }) => {
        attempts += 1;
        if (!(await queue.open()).some((one) => one.id === id)) closed += 1;
        throw new Error('it fails');
      });
      await waitUntil('it is given up', async () => (await queue.open()).length === 0);
      expect({ attempts, closed }).toEqual({ attempts: JOB_ATTEMPTS_MAX, closed: 0 });
    });

    test('a second attempt may succeed', async () => {
      const queue = fresh();
      let attempts = 0;
      await queue.add([job(1)]);
      work(queue, async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('it fails once');
      });
      await waitUntil('it is done', async () => (await queue.open()).length === 0);
      expect(attempts).toBe(2);
    });

    test('clearing forgets the jobs that no worker has begun and nothing else', async () => {
      const queue = fresh();
      await queue.add([job(1), job(2, { rank: 1 }), job(3, { rank: 1 })]);
      let end = (): void => undefined;
      const begun: string[] = [];
      work(queue, async ({ id }) => {
        begun.push(id);
        await new Promise<void>((resolve) => {
          end = resolve;
        });
      });
      await waitUntil('one is begun', () => begun.length === 1);
      await queue.clear();
      expect((await queue.open()).map(({ id }) => id)).toEqual(['job-1']);
      end();
      await waitUntil('nothing is open', async () => (await queue.open()).length === 0);
      expect(begun).toEqual(['job-1']);
    });

    test('ending the work tells those under way and waits for them', async () => {
      const queue = fresh();
      await queue.add([job(1)]);
      let state = 'not begun';
      const worker = work(queue, async (_, signal) => {
        state = 'begun';
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        state = 'ended';
      });
      await waitUntil('it is begun', () => state === 'begun');
      await worker.stop();
      expect(state).toBe('ended');
    });

    test('reported work is collected once', async () => {
      const queue = fresh();
      expect(await queue.collect()).toEqual(NO_WORK);
      const work = { rows: 5, blocks: 3, portalBlocks: 2, deadLetters: 1, retries: 2, contradictions: 0 };
      await Promise.all([queue.report(work), queue.report(work)]);
      expect(await queue.collect()).toEqual({
        rows: 10,
        blocks: 6,
        portalBlocks: 4,
        deadLetters: 2,
        retries: 4,
        contradictions: 0,
      });
      expect(await queue.collect()).toEqual(NO_WORK);
    });
  });
}
