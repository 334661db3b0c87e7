import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import { addKey, createOrganization } from '../../test/kit/access.ts';
import type { BenchEngine } from '../lab/engine.ts';
import { type BenchWallets, openIndex, pickWallets } from '../lab/history.ts';
import { median } from '../lab/measure.ts';
import { processFigures, sampleDuring } from '../lab/processes.ts';
import type { BenchContext } from '../lab/run.ts';
import { engineSettings, type ServiceProcess, serviceConfig, startService } from '../lab/service.ts';

/** A full index on a machine of its own, as far as one machine can be: the engine, and one API process started from `src/main.ts`. */
export interface Stage {
  readonly url: string;
  /** Each of an organization of its own, with units enough for any bench. */
  readonly keys: Keys;
  readonly wallets: BenchWallets;
  readonly service: ServiceProcess;
  readonly engine: BenchEngine;
}

interface Keys {
  /** For all traffic within capacity, and eight times as much: many, because a plan has 30 queries a minute. */
  readonly crowd: readonly string[];
  /** For the reads of the crowd that never waits, and for the patient caller. */
  readonly storm: string;
  readonly patient: string;
  /** For heavy queries, and for kept results. */
  readonly heavy: readonly string[];
  readonly kept: readonly string[];
}

const ROWS = { full: 1_000_000, quick: 100_000 };
const DAYS = { full: 180, quick: 10 };
const UNITS = 10_000_000;
const CUSTOMERS = { full: 400, quick: 100 };
const HEAVY_CUSTOMERS = 6;
const KEPT_CUSTOMERS = 20;

export async function openStage(context: BenchContext): Promise<Stage> {
  const { sized, workspace, say } = context;
  const newestTime = Math.floor(Date.now() / 1_000);
  const rows = sized(ROWS);
  const { engine } = await openIndex(context, { rows, newestTime, days: sized(DAYS) });
  const dataDir = join(workspace.dir, 'api');
  mkdirSync(dataDir);
  const keys = await makeKeys(dataDir, sized(CUSTOMERS));
  const settings = await serviceConfig(dataDir, {
    role: 'api',
    clickhouse: engineSettings(engine.access),
    chains: ['base', 'polygon', 'avalanche', 'sei', 'arbitrum'].map((chain) => ({ chain })),
    console: { visitorKey: keys.heavy[2] },
  });
  const service = startService(workspace, settings);
  await service.untilPrepared();
  const wallets = await pickWallets(engine);
  say(`the API listens over ${rows} rows`);
  return { url: service.url, keys, wallets, service, engine };
}

async function makeKeys(dataDir: string, customers: number): Promise<Keys> {
  const store = openSqliteStore({ path: join(dataDir, 'control.db') });
  const keys: string[] = [];
  while (keys.length < 2 + customers + HEAVY_CUSTOMERS + KEPT_CUSTOMERS) {
    const organizationId = await createOrganization(store, { units: UNITS, plan: 'pro' });
    keys.push(await addKey(store, { organizationId }));
  }
  await store.close();
  const [storm = '', patient = ''] = keys.splice(0, 2);
  const crowd = keys.splice(0, customers);
  return { storm, patient, crowd, heavy: keys.splice(0, HEAVY_CUSTOMERS), kept: keys };
}

/**
 * Over one stretch of load: resident sets as medians of samples, MiB, the heap after a collection at its end, and how late the API's event
 * loop was, milliseconds.
 */
export type Use = Readonly<
  Record<'api-heap' | 'api-rss' | 'engine-rss' | 'event-loop-p99' | 'event-loop-max', number>
>;

const SAMPLE_EVERY_MS = 500;

/** Samples while `work` runs, then lets the service collect its garbage. */
export async function watchUse<Result>({ service, engine }: Stage, work: Promise<Result>) {
  const { result, samples } = await sampleDuring(work, SAMPLE_EVERY_MS, async () => ({
    ...(await service.vitals()),
    engineRss: processFigures(engine.pid()).residentMib,
  }));
  const use: Use = {
    'api-heap': (await service.vitals({ collect: true })).heap,
    'api-rss': median(samples.map(({ rss }) => rss)),
    'engine-rss': median(samples.map(({ engineRss }) => engineRss)),
    'event-loop-p99': median(samples.map(({ loopP99Ms }) => loopP99Ms)),
    'event-loop-max': Math.max(...samples.map(({ loopMaxMs }) => loopMaxMs)),
  };
  return { result, use };
}
