import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { runPool } from '../../core/process/pool.ts';
import { openRedisStore } from '../../src/accounts/redis/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { addKey } from '../../test/kit/access.ts';
import { startRedisServer } from '../../test/kit/redis-server.ts';
import { startMeasuredApi } from '../lab/api.ts';
import { sharedHistory } from '../lab/chain-history.ts';
import { type BenchEngine, benchLog, rowsOf, run, startBenchEngine } from '../lab/engine.ts';
import {
  closeDays,
  DAY_SECONDS,
  diskFigures,
  pickWallets,
  seedHistory,
  startOfToday,
} from '../lab/history.ts';
import { ourWorker, recordWorker } from '../lab/indexers.ts';
import { type Figure, shown } from '../lab/measure.ts';
import { processFigures } from '../lab/processes.ts';
import { type BenchContext, type BenchPart, requireRoom, runBench } from '../lab/run.ts';

/** The memory of a thousand of each record in the control store's Redis. */

const THOUSANDS = { full: 10, quick: 1 };
const THOUSAND = 1_000;
const AT_ONCE = 50;
const LATER_MS = 120_000;
const KIBIBYTE = 1_024;
/** The length of its id is part of every record. */
const ORGANIZATION = 'acme';

const redisMemory: BenchPart = {
  name: 'redis',
  summary: 'memory of Redis per thousand keys, open holds, metered calls and payments',
  async run({ sized, workspace }) {
    const server = await startRedisServer(['--appendfsync', 'no']);
    workspace.defer(() => server.stop());
    const store = openRedisStore({ url: server.url, keyPrefix: 'index', log: benchLog() });
    workspace.defer(() => store.close());
    const raw = new Redis(server.url);
    workspace.defer(() => raw.disconnect());
    const organization = { id: ORGANIZATION, displayName: 'Acme', plan: 'pro', createdAtMs: 1 } as const;
    await store.accounts.createOrganization(organization);
    await store.units.grant({ organizationId: ORGANIZATION, grantId: 'g', units: 1e9, note: '', atMs: 1 });
    const count = sized(THOUSANDS) * THOUSAND;
    const figures: Figure[] = [];
    for (const [name, work] of Object.entries(kindsOf(store))) {
      const before = await usedBytes(raw);
      await runPool(Array.from({ length: count }).keys(), { width: AT_ONCE }, work);
      const bytes = (await usedBytes(raw)) - before;
      figures.push(shown(`redis-${name}`, (bytes / count) * (THOUSAND / KIBIBYTE), 'KiB/thousand'));
    }
    return figures;
  },
};

function kindsOf(store: ControlStore): Readonly<Record<string, (n: number) => Promise<void>>> {
  const organizationId = ORGANIZATION;
  const hold = async (holdId: string): Promise<void> => {
    const now = Date.now();
    await store.units.hold({
      ...{ organizationId, holdId, units: 3, operation: 'list-flows' },
      ...{ heldAtMs: now, overdueAtMs: now + LATER_MS },
    });
  };
  return {
    async keys() {
      await addKey(store, { organizationId, label: 'ci', createdAtMs: 1 });
    },
    'open-holds': () => hold(randomUUID()),
    'metered-calls': async () => {
      const holdId = randomUUID();
      await hold(holdId);
      await store.units.capture({ organizationId, holdId, units: 2, atMs: Date.now() });
    },
    'served-payments': (n) => pay(store, n),
    async 'rate-windows'(n) {
      await store.rates.take({ key: `address-${n}`, limit: 60, windowSeconds: 60, nowMs: Date.now() });
    },
  };
}

async function pay(store: ControlStore, n: number): Promise<void> {
  const hex = (width: number): string => `0x${n.toString(16).padStart(width, '0')}`;
  const id = { chain: 'eip155:8453', asset: hex(40), payer: hex(40), nonce: hex(64) };
  const nowMs = Date.now();
  const leaseUntilMs = nowMs + LATER_MS;
  await store.payments.claim({
    ...{ id, binding: 'b'.repeat(64), resource: 'GET /v0/flows', payTo: hex(40), amount: '1000' },
    ...{ expiresAtMs: leaseUntilMs, claimedAtMs: nowMs, leaseUntilMs },
  });
  await store.payments.recordSettlement({ id, transaction: hex(64) });
  const { attempt } = await store.payments.beginServing({ id, nowMs, leaseUntilMs, attemptsMax: 3 });
  await store.payments.finishServing({ id, attempt, answered: true });
}

async function usedBytes(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

/** The cost of reading a chain: calls to its node, and processor time of the worker and of the engine. */

const SETTLEMENTS = { full: 40_000, quick: 4_000 };
const MILLION = 1_000_000;

const ingestCost: BenchPart = {
  name: 'ingest',
  summary: 'RPC calls by method and processor time of indexing a chain from anvil',
  async run(context) {
    const history = await sharedHistory(context);
    await history.growTo(context.sized(SETTLEMENTS));
    const settlements = history.settlements();
    const { from, to } = history.range();
    const { requests } = await recordWorker(context.workspace, history);
    const { workerSeconds, engineSeconds } = await ourWorker(context.workspace, history).index();
    return [
      shown('chain-settlements-per-block', settlements / (to - from + 1), 'settlements'),
      ...callFigures(requests, settlements),
      shown('ingest-worker-cpu', (workerSeconds / settlements) * MILLION, 's/million'),
      shown('ingest-engine-cpu', (engineSeconds / settlements) * MILLION, 's/million'),
    ];
  },
};

/** Counts the calls of a batch one by one, as node providers do. */
function callFigures(requests: readonly string[], settlements: number): Figure[] {
  const counts = new Map<string, number>();
  for (const body of requests) {
    const parsed: unknown = JSON.parse(body);
    for (const call of Array.isArray(parsed) ? parsed : [parsed]) {
      const { method } = call as { readonly method: string }; // sent by our own client
      counts.set(method, (counts.get(method) ?? 0) + 1);
    }
  }
  const perMillion = (calls: number): number => (calls / settlements) * MILLION;
  const all = [...counts.values()].reduce((sum, calls) => sum + calls, 0);
  return [
    ...[...counts.entries()]
      .sort(([, a], [, b]) => b - a)
      .map(([method, calls]) => shown(`rpc-${method}`, perMillion(calls), 'calls/million')),
    shown('rpc-all', perMillion(all), 'calls/million'),
    shown('rpc-http-requests', perMillion(requests.length), 'requests/million'),
  ];
}

/** The size of an index of so many settlements, and its growth. */

const SIZES = { full: [1_000_000, 4_000_000, 16_000_000], quick: [50_000, 200_000] };
/** As many as synthetic rows have by themselves. */
const DAYS = { full: 180, quick: 10 };
/** Twice what is left after merges, which hold old and new parts at once. */
const DISK_BYTES_PER_ROW = 700;
const ROUNDS = 12;
const ROUNDS_WARM = 2;

const indexSize: BenchPart = {
  name: 'index',
  summary: 'disk per table, memory and processor of the engine, rows read per request, at three sizes',
  async run(context) {
    const { workspace, sized, say } = context;
    const sizes = sized(SIZES);
    requireRoom(workspace.dir, (sizes.at(-1) ?? 0) * DISK_BYTES_PER_ROW);
    const engine = await startBenchEngine(workspace, 'scale');
    const today = startOfToday();
    const figures: Figure[] = [];
    let there = 0;
    for (const [layer, rows] of sizes.entries()) {
      const size = rows >= MILLION ? `${rows / MILLION}m` : `${rows / 1_000}k`;
      const before = processFigures(engine.pid()).cpuSeconds;
      const newest = { newestTime: today + DAY_SECONDS / 2, days: sized(DAYS) };
      await seedHistory(engine, { rows: rows - there, layer, ...newest }, say);
      await closeDays(engine, today, say);
      const cpuSeconds = processFigures(engine.pid()).cpuSeconds - before;
      say(`${rows} rows: merging everything`);
      await mergeAll(engine);
      const { residentMib, highestMib } = processFigures(engine.pid());
      figures.push(
        shown(`seed-and-rollups-cpu-${size}`, cpuSeconds / ((rows - there) / MILLION), 's/million'),
        ...(await diskFigures(engine, rows, size)),
        shown(`engine-resident-${size}`, residentMib, 'MiB'),
        shown(`engine-highest-${size}`, highestMib, 'MiB'),
        ...(await requestFigures(engine, context, size)),
      );
      there = rows;
    }
    return figures;
  },
};

/** The state that the engine's own merges reach in time. */
async function mergeAll(engine: BenchEngine): Promise<void> {
  const tables = await rowsOf(
    engine,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0`,
  );
  for (const [table] of tables) await run(engine, sql`OPTIMIZE TABLE ${trustedText(String(table))} FINAL`);
}

async function requestFigures(engine: BenchEngine, { workspace }: BenchContext, size: string) {
  const api = await startMeasuredApi(workspace, engine.reader);
  const { merchants, payers } = await pickWallets(engine);
  const figures: Figure[] = [];
  const measure = async (kind: string, pathOf: (round: number) => string): Promise<void> => {
    for (let round = 0; round < ROUNDS_WARM; round++) await api.get(pathOf(round));
    const engineBefore = processFigures(engine.pid()).cpuSeconds;
    const own = process.cpuUsage();
    let rowsRead = 0;
    for (let round = 0; round < ROUNDS; round++) rowsRead += (await api.get(pathOf(round))).cost.rowsRead;
    const { user, system } = process.cpuUsage(own);
    const engineSeconds = processFigures(engine.pid()).cpuSeconds - engineBefore;
    const name = `request-${kind}-${size}`;
    figures.push(
      shown(`${name}-rows-read`, rowsRead / ROUNDS, 'rows'),
      shown(`${name}-engine-cpu`, (engineSeconds * 1_000) / ROUNDS, 'ms'),
      // Of the API and of the client that asks it, in one process.
      shown(`${name}-api-cpu`, (user + system) / 1_000 / ROUNDS, 'ms'),
    );
  };
  await measure('feed', () => '/v0/flows?limit=50');
  await measure(
    'wallet-page',
    (round) => `/v0/entities/${payers.mid[round % payers.mid.length]}/settlements?limit=50`,
  );
  await measure('merchant-hot', () => `/v0/merchants/${merchants.hot[0]}?chain=all`);
  return figures;
}

await runBench({
  name: 'scale',
  description: 'What a million settlements cost: bytes, rows, calls and processor seconds (docs/scale.md).',
  parts: [redisMemory, ingestCost, indexSize],
});
