import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { systemClock } from '../../core/clock.ts';
import { openRedisStore } from '../../src/accounts/redis/store.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { Gate } from '../../src/gate/gate.ts';
import { keepRequestsYoung } from '../../src/http/server.ts';
import { openAccess } from '../../src/open-access.ts';
import { NOT_CHARGED } from '../../src/operations/answer.ts';
import type { CallContext } from '../../src/operations/deps.ts';
import { addKey, createOrganization } from '../../test/kit/access.ts';
import { startRedisServer } from '../../test/kit/redis-server.ts';
import { waitUntil } from '../../test/kit/wait-until.ts';
import { benchApp } from '../lab/api.ts';
import { benchLog } from '../lab/engine.ts';
import { loadAgainstBare, type Speed } from '../lab/load.ts';
import { askEach, type Figure, inTurn, judged, median, quantile, shown, timed } from '../lab/measure.ts';
import { watchEventLoop } from '../lab/processes.ts';
import { type BenchContext, type BenchPart, runBench, type Workspace } from '../lab/run.ts';
import { benchConfig } from '../lab/service.ts';

type StoreName = 'sqlite' | 'redis';

/** The same application twice: with its gate, and with one that admits every call. */
interface GatedApi {
  readonly gated: FastifyInstance;
  readonly open: FastifyInstance;
  readonly store: ControlStore;
  /** Of a new organization with so many units. */
  newKey(units?: number): Promise<{ readonly key: string; readonly organizationId: string }>;
}

/** Answers of the statements that return a row even for empty tables. */
const ROWS_OF_NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  'dataset-newest-time': [0, 0],
  'feed-check': [0, 0],
  'rollup-coverage': [0, [], []],
  'relayer-totals': ['0', 0, 0],
  'snapshot-revision': [0, 0],
};
const UNITS = 10_000_000;

/** An engine without settlements that answers at once, because the engine's time is not the gate's. */
const EMPTY: Reader = {
  rows: ({ name }) => {
    const row = ROWS_OF_NOTHING[name];
    return Promise.resolve({ rows: row === undefined ? [] : [row], readRows: 0, readBytes: 0, elapsedMs: 0 });
  },
  ping: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

async function openGatedApi(workspace: Workspace, name: StoreName): Promise<GatedApi> {
  const store = await openStore(workspace, name);
  const config = await benchConfig(workspace, ['base', 'polygon']);
  const access = openAccess({ config, clock: systemClock, log: benchLog() }, store);
  keepRequestsYoung();
  const start = async (gate: Gate): Promise<FastifyInstance> => {
    const app = benchApp({ ...access, gate }, { config, reader: EMPTY });
    workspace.defer(() => app.close());
    await app.ready();
    return app;
  };
  const [gated, open] = [await start(access.gate), await start(OPEN_GATE)];
  // Making both keeps the loop of a busy machine from turning for so long that the store's connection may be given up and made anew.
  const answers = async () => (await Promise.allSettled([store.ping()]))[0].status === 'fulfilled';
  await waitUntil('the control store answers', answers);
  return {
    ...{ gated, open, store },
    async newKey(units = UNITS) {
      const organizationId = await createOrganization(store, { units, plan: 'pro' });
      return { key: await addKey(store, { organizationId }), organizationId };
    },
  };
}

/** A control store as it is run: a SQLite file that syncs every commit, or a Redis on loopback that syncs every write. */
async function openStore(workspace: Workspace, name: StoreName): Promise<ControlStore> {
  const log = benchLog();
  const server = name === 'redis' ? await startRedisServer() : undefined;
  workspace.defer(() => server?.stop());
  const store =
    server === undefined
      ? openSqliteStore({ path: join(workspace.dir, 'control.db'), log })
      : openRedisStore({ url: server.url, keyPrefix: 'bench', log });
  workspace.defer(() => store.close());
  return store;
}

const ANYBODY: Omit<CallContext, 'surface' | 'idempotencyKey'> = {
  caller: {
    keyPresent: false,
    keyRecognised: null,
    standing: 'anonymous',
    organization: null,
    organizationMissing: false,
  },
  ...{ lane: 'x402', payment: null, hold: null, callerName: 'anybody' },
};

/** Reads the request and runs the operation, without key, quota or payment. */
const OPEN_GATE: Gate = {
  call: async (request) => {
    const { operation, deps, surface, charging, progress } = request;
    const facts = { chains: deps.deployment.chains, cursorKeys: deps.cursorKeys };
    const call = operation.prepare(request.raw(), facts);
    await call.review?.(deps, ANYBODY.callerName);
    progress.onRun(ANYBODY.lane);
    const { idempotencyKey } = charging;
    const outcome = await call.run(deps, { ...ANYBODY, surface, idempotencyKey });
    const answer = outcome.answer(NOT_CHARGED);
    return { answer, delivered: () => Promise.resolve(), replayed: false, chargedQu: 0 };
  },
  checkToken: () => Promise.resolve(),
  refuses: () => false,
  reads: () => ({ places: 0, running: 0, waiting: 0, unstoppable: 0 }),
};

/** A metered route. */
const GRAPH = '/v0/graph?window=100&wallet=0x00000000000000000000000000000000000000a1';
/** Milliseconds that the gate may add to the median, by store. */
const ROUTES = [
  {
    ...{ name: 'keyed', url: '/v0/flows?limit=1', goalMs: { sqlite: 0.05, redis: 0.1 } },
    calls: { full: 20_000, quick: 5_000 },
  },
  {
    ...{ name: 'metered', url: GRAPH, goalMs: { sqlite: 0.7, redis: 0.6 } },
    calls: { full: 5_000, quick: 1_000 },
  },
] as const;
/** Short, so that a busy moment of the machine affects both sides. */
const BLOCK_CALLS = 20;
const WARM_UP_BLOCKS = 25;
const ROUND_TRIPS = 2_000;
const SYNCS = 500;
const PAGE = Buffer.alloc(4_096, 1);

/** The time that the gate adds to one call, one call at a time, in process (`inject`): without the noise of sockets. */
async function measureAddedTime({ workspace, sized, say }: BenchContext, store: StoreName) {
  const { gated, open, store: control, newKey } = await openGatedApi(workspace, store);
  const { key } = await newKey();
  const figures = await askEach(ROUTES, say, async ({ name, url, goalMs, calls }) => {
    // The key is sent to both, so that both read the same request.
    const block = (app: FastifyInstance) => () => callBlock(app, url, key);
    const effort = { rounds: Math.ceil(sized(calls) / BLOCK_CALLS), warmUp: WARM_UP_BLOCKS };
    const blocks = await inTurn({ gated: block(gated), open: block(open) }, effort);
    const [gatedMs, openMs] = [blocks.gated.flat(), blocks.open.flat()];
    const added = median(gatedMs) - median(openMs);
    const prefix = `${name}-${store}`;
    say(`${prefix}: the gate adds ${added.toFixed(3)} ms to ${median(openMs).toFixed(3)} ms`);
    return [
      judged(`${prefix}-added-p50`, added, 'ms', '<=', goalMs[store]),
      shown(`${prefix}-gated-p50`, median(gatedMs), 'ms'),
      shown(`${prefix}-open-p50`, median(openMs), 'ms'),
      shown(`${prefix}-gated-p99`, quantile(gatedMs, 0.99), 'ms'),
      shown(`${prefix}-open-p99`, quantile(openMs, 0.99), 'ms'),
    ];
  });
  if (store === 'redis')
    return [...figures, await timeOf('redis-round-trip-p50', ROUND_TRIPS, () => control.ping())];
  // With any store a metered call waits for one of them, that of its capture.
  const file = openSync(join(workspace.dir, 'synced'), 'w');
  const sync = async (): Promise<void> => {
    writeSync(file, PAGE);
    fsyncSync(file);
  };
  const syncing = await timeOf('disk-sync-p50', SYNCS, sync);
  closeSync(file);
  return [...figures, syncing];
}

async function timeOf(name: string, rounds: number, work: () => Promise<void>): Promise<Figure> {
  const { times } = await inTurn({ times: () => timed(work) }, { rounds });
  return shown(name, median(times.map(({ ms }) => ms)), 'ms');
}

async function callBlock(app: FastifyInstance, url: string, key: string): Promise<number[]> {
  const times: number[] = [];
  const call = () => app.inject({ method: 'GET', url, headers: { 'x-api-key': key } });
  for (let count = 0; count < BLOCK_CALLS; count++) {
    const { ms, result } = await timed(call);
    if (result.statusCode !== 200)
      throw new Error(`${url} answered ${result.statusCode}: ${result.body.slice(0, 300)}`);
    times.push(ms);
  }
  return times;
}

const BURST_CALLS = 1_000;
const BURST_UNITS = 100;
const OVERLOADED = 503;
/** Far below `Retry-After`, because the bench measures the time of the burst. */
const AGAIN_AFTER_MS = 20;

/** Many metered calls at once on a balance that is too small: how long they take together, and that no call beyond the balance is answered. */
async function measureBurst({ workspace, say }: BenchContext, store: StoreName) {
  const api = await openGatedApi(workspace, store);
  /** Most calls of such a burst get 503 and are repeated. */
  const call = async (key: string): Promise<number> => {
    for (;;) {
      const request = { method: 'GET', url: GRAPH, headers: { 'x-api-key': key } } as const;
      const { statusCode } = await api.gated.inject(request);
      if (statusCode !== OVERLOADED) return statusCode;
      await sleep(AGAIN_AFTER_MS);
    }
  };
  const rich = await api.newKey();
  for (let count = 0; count < BURST_UNITS; count++) await call(rich.key); // warms up
  const { key, organizationId } = await api.newKey(BURST_UNITS);
  const loop = watchEventLoop();
  const burst = Array.from({ length: BURST_CALLS }, () => key);
  const { ms, result } = await timed(() => Promise.all(burst.map(call)));
  const { maxMs, p99Ms } = loop.stop();
  const answered = result.filter((status) => status === 200).length;
  const refused = result.filter((status) => status === 402).length;
  const spent = (await api.store.units.balance(organizationId))?.spent;
  say(`burst-${store}: ${answered} answered and ${refused} refused in ${ms.toFixed(0)} ms`);
  const ok = answered === BURST_UNITS && refused === BURST_CALLS - BURST_UNITS && spent === BURST_UNITS;
  return [
    { ...shown(`burst-${store}-captured`, answered, 'calls'), goal: `=${BURST_UNITS}`, ok },
    shown(`burst-${store}`, ms, 'ms'),
    shown(`burst-${store}-event-loop-max`, maxMs, 'ms'),
    shown(`burst-${store}-event-loop-p99`, p99Ms, 'ms'),
  ];
}

const ACCOUNT_EFFORT = { full: { roundMs: 4_000, rounds: 5 }, quick: { roundMs: 1_200, rounds: 3 } };
const ACCOUNT_SHARE_GOAL = 0.5;

/** Requests a second of /v0/account over loopback, against a route of a bare Fastify that returns the same bytes. */
async function measureAccountRate({ workspace, sized, say }: BenchContext): Promise<Figure[]> {
  const { gated, newKey } = await openGatedApi(workspace, 'sqlite');
  const url = `${await gated.listen({ host: '127.0.0.1', port: 0 })}/v0/account`;
  const callers = { organization: (await newKey()).key, anonymous: '' };
  const loop = watchEventLoop();
  const figures: Figure[] = [];
  for (const [caller, key] of Object.entries(callers)) {
    const { ours, bare } = await loadAgainstBare(workspace, { url, key }, sized(ACCOUNT_EFFORT));
    const of = (speeds: readonly Speed[], what: keyof Speed) => median(speeds.map((speed) => speed[what]));
    const [own, peer] = [of(ours, 'rate'), of(bare, 'rate')];
    const name = `account-${caller}`;
    say(`${name}: ${own.toFixed(0)} requests a second, bare Fastify ${peer.toFixed(0)}`);
    figures.push(
      judged(`${name}-against-bare`, own / peer, 'x', '>=', ACCOUNT_SHARE_GOAL),
      shown(`${name}-rate`, own, 'requests/s'),
      shown(`${name}-bare-rate`, peer, 'requests/s'),
      shown(`${name}-cpu`, of(ours, 'cpuMicros'), 'us'),
      shown(`${name}-bare-cpu`, of(bare, 'cpuMicros'), 'us'),
    );
  }
  const { maxMs, p99Ms } = loop.stop();
  const late = { 'account-event-loop-max': maxMs, 'account-event-loop-p99': p99Ms };
  return [...figures, ...Object.entries(late).map(([name, ms]) => shown(name, ms, 'ms'))];
}

/** With each store; where one fails, the other is still measured. */
function withEachStore(
  name: string,
  summary: string,
  measure: (context: BenchContext, store: StoreName) => Promise<Figure[]>,
): BenchPart {
  const stores = (['sqlite', 'redis'] as const).map((store) => ({ name: `${name}-${store}`, store }));
  return {
    name,
    summary,
    run: (context) => askEach(stores, context.say, (one) => measure(context, one.store)),
  };
}

await runBench({
  name: 'gate',
  description: 'What keys, limits and units cost a call, on SQLite and on a local Redis.',
  parts: [
    withEachStore('added', 'what the gate adds to a keyed and to a metered call', measureAddedTime),
    withEachStore('burst', 'a thousand metered calls at once', measureBurst),
    { name: 'account', summary: 'requests a second of /v0/account', run: measureAccountRate },
  ],
});
