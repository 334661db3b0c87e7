import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import { closeQuietly, createRedis } from '../../core/redis-client.ts';
import { startRedisServer } from '../../test/kit/redis-server.ts';
import { waitUntil } from '../../test/kit/wait-until.ts';
import { type ChainHistory, sharedHistory } from '../lab/chain-history.ts';
import { numbersOf, startBenchEngine } from '../lab/engine.ts';
import { type Indexer, type Recording, recordWorker } from '../lab/indexers.ts';
import { type Figure, inTurn, median, shown } from '../lab/measure.ts';
import { startProcess } from '../lab/processes.ts';
import { type BenchContext, runBench, type Workspace } from '../lab/run.ts';
import { engineSettings, localChain, serviceConfig, startService } from '../lab/service.ts';

const SETTLEMENTS = { full: 100_000, quick: 20_000 };
const ROUNDS = { full: 3, quick: 1 };
const WORKERS = 4;
const RATIO_GOAL = 1.7;
/** This close to the node's maximum there is nothing left to gain. */
const BOUND_GOAL = 0.9;

/**
 * One worker and four in turn over the same chain, each round on an empty database, and a reader that discards the answers: no number
 * of workers can be faster than that.
 */
async function measureBackfill(context: BenchContext): Promise<Figure[]> {
  const { workspace, sized, say } = context;
  const history = await sharedHistory(context);
  await history.growTo(sized(SETTLEMENTS));
  const recording = await recordWorker(workspace, history);
  // Rows a second.
  const by = (name: string, indexer: Indexer) => async (): Promise<number> => {
    const { syncMs } = await indexer.index();
    say(`${name}: ${(syncMs / 1_000).toFixed(2)} s`);
    return history.settlements() / (syncMs / 1_000);
  };
  const race = await inTurn(
    {
      source: by('the requests alone', fetchUnread(workspace, history, recording)),
      one: by('one worker', manyWorkers(workspace, history, 1)),
      many: by(`${WORKERS} workers`, manyWorkers(workspace, history, WORKERS)),
    },
    { rounds: sized(ROUNDS) },
  );
  const [source, one, many] = [median(race.source), median(race.one), median(race.many)];
  const ok = many / one >= RATIO_GOAL || many / source >= BOUND_GOAL;
  const goal = `>=${RATIO_GOAL}|of-the-bound>=${BOUND_GOAL}`;
  return [
    shown('backfill-one-worker', one, 'rows/s'),
    shown('backfill-four-workers', many, 'rows/s'),
    shown('backfill-source-bound', source, 'rows/s'),
    shown('backfill-four-of-the-bound', many / source, 'x'),
    { ...shown('backfill-four-against-one', many / one, 'x'), goal, ok },
  ];
}

/**
 * Sends its requests, so many at once, and discards the answers unread: it measures the time of the node and the kernel alone. Prints
 * when it began and ended.
 */
const FETCHER = `
const { Agent, request } = require('node:http');
const [file, url, inFlight] = process.argv.slice(1);
const bodies = require(file);
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) });
const post = (body) => new Promise((resolve, reject) => {
  const sent = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } }, (answer) => {
    answer.resume();
    answer.on('end', resolve);
  });
  sent.on('error', reject);
  sent.end(body);
});
let next = 0;
const work = async () => { while (next < bodies.length) await post(bodies[next++]); };
const began = Date.now();
Promise.all(Array.from({ length: Number(inFlight) }, work)).then(() => console.log(began + ' ' + Date.now()));
`;
const FETCHERS = 2;

/** The node's maximum throughput: the recorded requests of one worker, divided among as many processes as the machine has cores. */
function fetchUnread(workspace: Workspace, { chain }: ChainHistory, recording: Recording): Indexer {
  const { requests, inFlightMax } = recording;
  return {
    async index() {
      const times: number[] = [];
      const fetchers = Array.from({ length: FETCHERS }, (_, index) => {
        const file = join(workspace.dir, `requests-${index}.json`);
        writeFileSync(file, JSON.stringify(requests.filter((_request, at) => at % FETCHERS === index)));
        return startProcess(workspace, {
          command: process.execPath,
          args: ['-e', FETCHER, file, chain.url, String(inFlightMax)],
          onLine: (line) => times.push(...line.split(' ').map(Number)),
        });
      });
      await Promise.all(fetchers.map((fetcher) => fetcher.exited));
      if (times.length !== 2 * FETCHERS) throw new Error('a fetch-only reader failed');
      // From the first request to the last answer.
      return { startUpMs: 0, syncMs: Math.max(...times) - Math.min(...times) };
    },
  };
}

const KEY_PREFIX = 'bench';
/** The chain's planning lease, under the product's name: while the bench holds it, no worker plans jobs. */
const SCOPE = 'eip155:84532';
const LEASE_KEY = `${KEY_PREFIX}:{ingest:lease:${SCOPE}}`;
const READY_MAX_MS = 120_000;
const BACKFILL_MAX_MS = 600_000;
/** As in production, where a worker is a child of its own (src/service.ts). */
const NODE_FLAGS = ['--max-semi-space-size=64'];
let runs = 0;

/**
 * So many processes of the product with ROLE=ingest, over a fresh engine and a fresh Redis, which begin together: they start while the
 * bench holds the lease on the chain.
 */
function manyWorkers(workspace: Workspace, history: ChainHistory, count: number): Indexer {
  return {
    async index() {
      runs += 1;
      const engine = await startBenchEngine(workspace, `workers-${runs}`);
      const server = await startRedisServer();
      workspace.defer(() => server.stop());
      const redis = createRedis(server.url, { enableOfflineQueue: true, maxRetriesPerRequest: null });
      await redis.set(LEASE_KEY, 'the bench');
      const workers = [];
      for (let index = 0; index < count; index++) {
        const config = await serviceConfig(join(workspace.dir, `worker-${runs}-${index}`), {
          role: 'ingest',
          clickhouse: engineSettings(engine.access),
          control: { redisUrl: server.url, keyPrefix: KEY_PREFIX },
          chains: [localChain(history.chain.url)],
        });
        workers.push(startService(workspace, config, NODE_FLAGS));
      }
      const died = Promise.race(workers.map(({ ended }) => ended)).then((log): never => {
        throw new Error(`a worker ended: ${log}`);
      });
      const until = (what: string, withinMs: number, isSo: () => Promise<boolean>) =>
        Promise.race([died, waitUntil(what, isSo, withinMs)]);
      try {
        const waiting = async () => String(await redis.client('LIST')).match(/ cmd=bzpopmin /g)?.length ?? 0;
        await until('all workers wait for jobs', READY_MAX_MS, async () => (await waiting()) >= count);
        await redis.del(LEASE_KEY);
        // Not from the first row on: much has been fetched and decoded by then, the more the more workers there are.
        await until('one leads', READY_MAX_MS, async () => {
          const [led] = await numbersOf(engine, sql`SELECT count() FROM fences WHERE scope = ${text(SCOPE)}`);
          return led !== 0;
        });
        const began = performance.now();
        await until('every row is there', BACKFILL_MAX_MS, async () => {
          const [rows] = await numbersOf(
            engine,
            sql`SELECT uniqExact(block_number, log_index) FROM settlements`,
          );
          return rows === history.settlements();
        });
        return { startUpMs: 0, syncMs: performance.now() - began };
      } finally {
        await Promise.all(workers.map((worker) => worker.stop()));
        await closeQuietly(redis);
        await server.stop();
        await engine.stop();
      }
    },
  };
}

await runBench({
  name: 'workers',
  description:
    'The backfill of one chain from one node by one and by several ingest processes over one Redis.',
  parts: [
    { name: 'backfill', summary: 'backfill by four ingest processes against one', run: measureBackfill },
  ],
});
