import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT } from '../../core/config/environment.ts';
import { freePort } from '../../core/process/free-port.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import { waitUntil } from '../../test/kit/wait-until.ts';
import { closeDays } from '../entities/close-days.ts';
import { type BenchWallets, pickWallets } from '../entities/wallets.ts';
import { createCustomer } from '../gate/gated-api.ts';
import { type BenchEngine, startBenchEngine } from '../support/bench-engine.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { seedHistory } from '../support/seed-history.ts';

/** A full index on a machine of its own, as far as one machine can be: the engine, and one API process started from `src/main.ts`. */
export interface Stage {
  readonly url: string;
  /** Each of an organization of its own, with units enough for any bench. */
  readonly keys: Keys;
  readonly wallets: BenchWallets;
  readonly service: ServiceProcess;
  readonly engine: BenchEngine;
  readonly cores: number;
}

/** Memory and event loop of the service's process, as it reports them. */
export interface Vitals {
  /** MiB. */
  readonly rss: number;
  /** MiB of JavaScript objects; of living ones only, where a collection was asked for. */
  readonly heap: number;
  /** How late the loop was since the last question, milliseconds. */
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
}

export interface Keys {
  /** For all traffic within capacity, and eight times as much: many, because a plan has 30 queries a minute. */
  readonly crowd: readonly string[];
  /** For the reads of the crowd that never waits. */
  readonly storm: string;
  /** For the patient caller. */
  readonly patient: string;
  /** For heavy queries. */
  readonly heavy: readonly string[];
  /** For kept results. */
  readonly kept: readonly string[];
}

export interface ServiceProcess {
  /** Its memory and event loop since the last question; after a collection where `collect` says so. */
  vitals(collect: boolean): Promise<Vitals>;
}

const ROWS = 1_000_000;
const ROWS_QUICK = 100_000;
const DAYS = 180;
const DAYS_QUICK = 10;
const DAY_SECONDS = 86_400;
/** Of the plans: high, so that the bench measures the machine and not a quota. */
const REQUESTS_PER_MINUTE = 100_000_000;
const UNITS = 10_000_000;
const CUSTOMERS = 400;
const CUSTOMERS_QUICK = 100;
const HEAVY_CUSTOMERS = 6;
const KEPT_CUSTOMERS = 20;
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;

export async function openStage(context: BenchContext): Promise<Stage> {
  const { quick, workspace, say } = context;
  const engine = await startBenchEngine(workspace, 'engine');
  const todayStart = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  const newestTime = Math.floor(Date.now() / 1_000);
  const rows = quick ? ROWS_QUICK : ROWS;
  await seedHistory(engine.writer, { rows, newestTime, days: quick ? DAYS_QUICK : DAYS }, say);
  await closeDays(engine.writer, todayStart, say);
  const dataDir = join(workspace.dir, 'api');
  mkdirSync(dataDir, { recursive: true });
  const keys = await makeKeys(dataDir, quick ? CUSTOMERS_QUICK : CUSTOMERS);
  const port = await freePort();
  const service = await startService(context, engine, { dataDir, port, visitorKey: keys.heavy[2] ?? '' });
  const wallets = await pickWallets(engine.reader);
  say(`the API listens over ${rows} rows`);
  return {
    url: `http://127.0.0.1:${port}`,
    keys,
    wallets,
    service,
    engine,
    cores: availableParallelism(),
  };
}

async function makeKeys(dataDir: string, customers: number): Promise<Keys> {
  const store = openSqliteStore({ path: join(dataDir, 'control.db') });
  const some = async (count: number): Promise<string[]> => {
    const keys: string[] = [];
    while (keys.length < count) keys.push((await createCustomer(store, UNITS)).key);
    return keys;
  };
  try {
    const [storm = '', patient = ''] = await some(2);
    return {
      storm,
      patient,
      crowd: await some(customers),
      heavy: await some(HEAVY_CUSTOMERS),
      kept: await some(KEPT_CUSTOMERS),
    };
  } finally {
    await store.close();
  }
}

async function startService(
  { workspace }: BenchContext,
  { access }: BenchEngine,
  {
    dataDir,
    port,
    visitorKey,
  }: { readonly dataDir: string; readonly port: number; readonly visitorKey: string },
): Promise<ServiceProcess> {
  const { url, database, writer, reader, guest } = access;
  const plan = { requestsPerMinute: REQUESTS_PER_MINUTE };
  const file = join(dataDir, 'config.json');
  const config = {
    role: 'api',
    dataDir,
    logLevel: 'error',
    http: { port, requestsPerMinute: REQUESTS_PER_MINUTE },
    clickhouse: { url, database, writer, reader, guest },
    chains: ['base', 'polygon', 'avalanche', 'sei', 'arbitrum'].map((chain) => ({ chain })),
    console: { visitorKey },
    plans: { free: plan, pro: plan, enterprise: plan },
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  const child = launch(file, join(dataDir, 'service.log'));
  workspace.defer(() => end(child));
  await waitUntil(
    'the service answers',
    async () => {
      if (child.exitCode !== null)
        throw new Error(
          `the service ended: ${readFileSync(join(dataDir, 'service.log'), 'utf8').slice(-2_000)}`,
        );
      return fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false, // not listening yet
      );
    },
    START_TIMEOUT_MS,
  );
  return {
    async vitals(collect) {
      const said = once(child, 'message');
      child.send({ collect });
      const [vitals] = (await said) as [Vitals]; // from our own probe
      return vitals;
    },
  };
}

function launch(file: string, logFile: string): ChildProcess {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const probe = new URL('./service-probe.mjs', import.meta.url).href;
  const log = openSync(logFile, 'w');
  const kept = Object.entries(process.env).filter(
    ([name]) => !(name in ENVIRONMENT) && !name.startsWith('RPC_URL_'),
  );
  const flags = ['--expose-gc', '--import', import.meta.resolve('tsx'), '--import', probe];
  const child = spawn(process.execPath, [...flags, main, 'start', '--config', file], {
    stdio: ['ignore', log, log, 'ipc'],
    env: Object.fromEntries(kept),
  });
  closeSync(log);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await gone;
  clearTimeout(late);
}
