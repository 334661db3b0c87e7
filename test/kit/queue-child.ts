import { createLog } from '../../core/log.ts';
import { createRedis } from '../../core/redis-client.ts';
import { bullmqQueue } from '../../ingest/coordinate/redis/queue.ts';

/** Begins a job, says so, and never ends it: a process to be killed. */

const [url = '', keyPrefix = '', name = ''] = process.argv.slice(2);
const rules = { enableOfflineQueue: true, maxRetriesPerRequest: null };
const [redis, waitingRedis] = [createRedis(url, rules), createRedis(url, rules)];
const queue = bullmqQueue({
  redis,
  waitingRedis,
  keyPrefix,
  name,
  log: createLog('error', 'queue-child'),
  times: { lockMs: 400, stalledEveryMs: 200, firstPauseMs: 5 },
});
await queue.work({
  jobsAtOnce: 1,
  signal: new AbortController().signal,
  handle: (job) => {
    process.send?.(job.id);
    return new Promise(() => undefined);
  },
});
