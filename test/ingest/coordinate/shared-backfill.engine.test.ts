import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Guard } from '../../../clickhouse/engine/engine.ts';
import { guardedWriter } from '../../../clickhouse/engine/guard.ts';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import type { ChainConfig } from '../../../core/config/chains.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { closeQuietly, createRedis } from '../../../core/redis-client.ts';
import { seededRandom } from '../../../demo/random.ts';
import type { BlockSource } from '../../../ingest/chain/block-source.ts';
import type { JobQueue, RangeJob } from '../../../ingest/coordinate/job-queue.ts';
import { planRanges } from '../../../ingest/coordinate/plan-ranges.ts';
import { bullmqQueue } from '../../../ingest/coordinate/redis/queue.ts';
import { workRanges } from '../../../ingest/coordinate/work-ranges.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { logFilterOf } from '../../../ingest/decode/log-kind.ts';
import { createChainStatus } from '../../../ingest/follow/chain-status.ts';
import { createEvmWindows } from '../../../ingest/follow/evm-windows.ts';
import { createCatalogueHolder } from '../../../ingest/grading/catalogue.ts';
import { contractsName, createCheckpoints } from '../../../ingest/write/checkpoints.ts';
import { claimFence, raiseGrades } from '../../../ingest/write/fence.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type TestEngine, testEngine, testLog } from '../../kit/engine.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { catalogueWith } from '../../kit/regrade-world.ts';
import { NO_COUNTERS } from '../../kit/rows.ts';
import { createModelChain, type ModelChain } from '../../kit/simulator/model-chain.ts';
import { randomBlock } from '../../kit/simulator/traffic.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** Planner and workers of the backfill, as several processes have them: whatever becomes of the queue, every row is there once. */

const BLOCKS = 1_200;
const HOURS_MS = 3_600_000;

describe.skipIf(!redisIsThere())('a backfill that several processes share', () => {
  let engine: TestEngine;
  let server: RedisServer;
  let redis: ReturnType<typeof createRedis>;
  let waitingRedis: ReturnType<typeof createRedis>;
  let model: ModelChain;
  let chain: ChainConfig;
  let ending = new AbortController();
  const running: Promise<unknown>[] = [];

  beforeAll(async () => {
    [engine, server] = await Promise.all([testEngine(), startRedisServer(['--appendonly', 'no'])]);
    redis = createRedis(server.url, { enableOfflineQueue: true, maxRetriesPerRequest: null });
    waitingRedis = createRedis(server.url, { enableOfflineQueue: true, maxRetriesPerRequest: null });
    for (const connection of [redis, waitingRedis]) connection.on('error', () => undefined);
    const [base] = loadConfig({ env: { CHAINS: 'base' } }).chains;
    if (base === undefined) throw new Error('base is a known chain');
    chain = { ...base, logWindowMax: 25, parallelWindows: 2, startBlock: 0 };
    model = createModelChain({ chainId: 8453, finalityDepth: 5, genesisTime: 1_790_000_000 });
    const random = seededRandom(8);
    const token = base.tokens[0]?.address;
    if (token === undefined) throw new Error('base has a token');
    while (model.head().number < BLOCKS + 5)
      model.append(
        randomBlock(random, { time: model.head().time + 2, token, transactions: random.below(3) }),
      );
    await raiseGrades(engine.writer, 1);
  });
  afterEach(async () => {
    ending.abort();
    await Promise.allSettled(running.splice(0));
    ending = new AbortController();
    await redis.flushall();
  });
  afterAll(async () => {
    await Promise.all([closeQuietly(redis), closeQuietly(waitingRedis)]);
    await Promise.all([engine?.close(), server?.stop()]);
  });

  const contracts = (): string =>
    contractsName(logFilterOf(decodeContextOf(chain, catalogueWith())).addresses);
  const newQueue = (): JobQueue =>
    bullmqQueue({
      redis,
      waitingRedis,
      keyPrefix: 'shared-test',
      name: `ranges-${contracts()}`,
      log: testLog,
      times: { lockMs: 1_000, stalledEveryMs: 300, firstPauseMs: 5 },
    });

  /** A process that works on jobs; its clock is off by `skewMs`. */
  function startWorker(skewMs: number, source: BlockSource = model.source): void {
    running.push(
      workRanges({
        config: chain,
        source,
        windows: createEvmWindows({
          source,
          context: decodeContextOf(chain, catalogueWith()),
          writer: engine.writer,
        }),
        writer: engine.writer,
        versions: createVersions(0n, () => Date.now() + skewMs),
        catalogues: createCatalogueHolder(catalogueWith(), 1n),
        jobs: { queueOf: newQueue, atOnce: 2 },
        log: testLog,
        signal: ending.signal,
      }),
    );
  }

  function plan(guard: Guard, skewMs: number): Promise<void> {
    const writer = guardedWriter(engine.writer, [guard]);
    const versions = createVersions(0n, () => Date.now() + skewMs);
    return planRanges({
      config: chain,
      status: createChainStatus(chain, model.source, NO_COUNTERS),
      checkpoints: createCheckpoints({ chain: chain.chain, contracts: contracts() }, writer, versions),
      acknowledged: <T>(attempt: () => Promise<T>): Promise<T> => attempt(),
      log: testLog,
      signal: ending.signal,
      versions,
      plan: {
        queue: newQueue(),
        epoch: guard.token,
        contracts: contracts(),
        gap: { from: 0, to: BLOCKS },
      },
      planEveryMs: 20,
    });
  }

  const jobOf = (guard: Guard, to: number): RangeJob => ({
    id: `job-${guard.token}-${to}`,
    ranges: [{ from: to - 49, to }],
    epoch: guard.token,
    versionFloor: 0n,
    rank: 0,
  });

  const claim = (owner: string): Promise<Guard> =>
    claimFence(engine.writer, { scope: chain.chain, owner, atLeast: 0n });

  async function figures(): Promise<{ readonly rows: number; readonly keys: number }> {
    const { rows } = await engine.writer.rows({
      name: 'figures',
      sql: sql`SELECT count(), uniqExact(block_number, log_index) FROM settlements FINAL WHERE chain = ${text(chain.chain)} AND del = 0`,
      maxSeconds: 10,
      maxRows: 1,
    });
    return { rows: Number(rows[0]?.[0]), keys: Number(rows[0]?.[1]) };
  }

  async function truth(): Promise<number> {
    const filter = logFilterOf(decodeContextOf(chain, catalogueWith()));
    const { logs } = await model.source.read(0, BLOCKS, filter);
    return logs.filter((log) => filter.isCandidate(log)).length;
  }

  test('takes no rows and no checkpoint of a job whose planner was overtaken', async () => {
    const old = await claim('old');
    const young = await claim('young');
    const queue = newQueue();
    await queue.add([jobOf(old, 99)]);
    startWorker(0);
    await waitUntil('the old job is dropped', async () => (await queue.open()).length === 0);
    expect(await figures()).toEqual({ rows: 0, keys: 0 });
    const checkpoints = createCheckpoints(
      { chain: chain.chain, contracts: contracts() },
      engine.writer,
      createVersions(0n),
    );
    expect((await checkpoints.load()).backfilled).toEqual([]);
    await queue.add([jobOf(young, 99)]);
    await waitUntil('the young one is done', async () => (await queue.open()).length === 0);
    expect((await checkpoints.load()).backfilled).toEqual([{ from: 50, to: 99 }]);
    expect((await figures()).rows).toBeGreaterThan(0);
  });

  test('has every row once, after the jobs were lost, the planner was replaced and clocks were hours apart', async () => {
    // The first planner goes on like one that does not know that it was replaced.
    const zombie = plan(await claim('first'), 2 * HOURS_MS);
    running.push(zombie);
    let reads = 0;
    const slow = gated(model.source, () => ++reads > 6);
    startWorker(-2 * HOURS_MS, slow.source);
    await waitUntil('some windows are read', () => reads > 6);
    await redis.flushall();
    const second = await claim('second');
    const done = plan(second, 0);
    slow.open();
    startWorker(HOURS_MS);
    await done;
    await waitUntil('all rows are there', async () => (await figures()).rows === (await truth()));
    expect(await figures()).toEqual({ rows: await truth(), keys: await truth() });
    const guarded = guardedWriter(engine.writer, [second]);
    const { backfilled } = await createCheckpoints(
      { chain: chain.chain, contracts: contracts() },
      guarded,
      createVersions(0n),
    ).load();
    expect(backfilled).toEqual([{ from: 0, to: BLOCKS }]);
  });
});

/** A source that answers no more once `isShut` says so, until it is opened. */
function gated(
  source: BlockSource,
  isShut: () => boolean,
): { readonly source: BlockSource; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    source: {
      ...source,
      async read(...given) {
        if (isShut()) await opened;
        return source.read(...given);
      },
    },
    open: () => open(),
  };
}
