import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Figure } from '../support/figure.ts';
import { median, quantile, timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type GatedApi, openGatedApi } from './gated-api.ts';
import { openStore, STORE_NAMES, type StoreName } from './stores.ts';

/** The time that the gate adds to one call, one call at a time, in process (`inject`): without the noise of sockets. */

interface Route {
  readonly name: 'keyed' | 'metered';
  readonly url: string;
  /** Milliseconds that the gate may add to the median. */
  readonly goalMs: Readonly<Record<StoreName, number>>;
  readonly calls: number;
  readonly callsQuick: number;
}

const ROUTES: readonly Route[] = [
  {
    name: 'keyed',
    url: '/v0/flows?limit=1',
    goalMs: { sqlite: 0.05, redis: 0.1 },
    calls: 20_000,
    callsQuick: 5_000,
  },
  {
    name: 'metered',
    url: '/v0/graph?window=100&wallet=0x00000000000000000000000000000000000000a1',
    goalMs: { sqlite: 0.7, redis: 0.6 },
    calls: 5_000,
    callsQuick: 1_000,
  },
];

/** Short, so that a busy moment of the machine affects both sides. */
const BLOCK_CALLS = 20;
const WARM_UP_BLOCKS = 25;
const ROUND_TRIPS = 2_000;
const SYNCS = 500;
const PAGE_BYTES = 4_096;

export async function measureAddedTime(context: BenchContext): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of STORE_NAMES) {
    const api = await openGatedApi(await openStore(name, context), context);
    for (const route of ROUTES) figures.push(...(await measureRoute(context, { name, api, route })));
    if (name === 'redis') figures.push(shown('redis-round-trip-p50', await roundTrip(api)));
  }
  return [...figures, shown('disk-sync-p50', syncTime(context))];
}

interface Measured {
  readonly name: StoreName;
  readonly api: GatedApi;
  readonly route: Route;
}

async function measureRoute({ quick, say }: BenchContext, { name, api, route }: Measured): Promise<Figure[]> {
  const blocks = Math.ceil((quick ? route.callsQuick : route.calls) / BLOCK_CALLS);
  const call = (app: FastifyInstance) => callOnce(app, route.url, api.key);
  for (let block = 0; block < WARM_UP_BLOCKS; block++)
    for (const app of [api.gated, api.open]) await callBlock(() => call(app));
  const [gated, open]: number[][] = [[], []];
  for (let block = 0; block < blocks; block++) {
    gated?.push(...(await callBlock(() => call(api.gated))));
    open?.push(...(await callBlock(() => call(api.open))));
  }
  const added = median(gated ?? []) - median(open ?? []);
  const prefix = `${route.name}-${name}`;
  say(`${prefix}: the gate adds ${added.toFixed(3)} ms to ${median(open ?? []).toFixed(3)} ms`);
  const goal = route.goalMs[name];
  return [
    { name: `${prefix}-added-p50`, value: added, unit: 'ms', goal: `<=${goal}`, ok: added <= goal },
    shown(`${prefix}-gated-p50`, median(gated ?? [])),
    shown(`${prefix}-open-p50`, median(open ?? [])),
    shown(`${prefix}-gated-p99`, quantile(gated ?? [], 0.99)),
    shown(`${prefix}-open-p99`, quantile(open ?? [], 0.99)),
  ];
}

async function callBlock(call: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < BLOCK_CALLS; count++) times.push((await timed(call)).ms);
  return times;
}

/** The key is sent to both, so that both read the same request. */
async function callOnce(app: FastifyInstance, url: string, key: string): Promise<void> {
  const { statusCode, body } = await app.inject({ method: 'GET', url, headers: { 'x-api-key': key } });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${body.slice(0, 300)}`);
}

/** A bare round trip to the store over loopback. */
async function roundTrip({ store }: GatedApi): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < ROUND_TRIPS; count++) times.push((await timed(() => store.ping())).ms);
  return median(times);
}

/** The time of one fsync: with any store a metered call waits for one of them, that of its capture. */
function syncTime({ workspace }: BenchContext): number {
  const file = openSync(join(workspace.dir, 'synced'), 'w');
  const page = Buffer.alloc(PAGE_BYTES, 1);
  const times: number[] = [];
  for (let count = 0; count < SYNCS; count++) {
    writeSync(file, page);
    const began = performance.now();
    fsyncSync(file);
    times.push(performance.now() - began);
  }
  closeSync(file);
  return median(times);
}

function shown(name: string, value: number): Figure {
  return { name, value, unit: 'ms', goal: '-', ok: true };
}
