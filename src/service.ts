import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { startEmbeddedEngine } from '../clickhouse/embedded/supervisor.ts';
import { type EngineWalls, hasFileWall } from '../clickhouse/embedded/walls.ts';
import type { EngineAccess, Guest } from '../clickhouse/engine/engine.ts';
import { ENGINE_OUTAGE_MAX_MS } from '../clickhouse/engine/error.ts';
import { createReader, createWriter } from '../clickhouse/engine/http-engine.ts';
import { shardsOf } from '../clickhouse/engine/nodes.ts';
import { publicFacts } from '../clickhouse/guest/views/facts.ts';
import { migrate } from '../clickhouse/migrate/migrate.ts';
import { systemClock } from '../core/clock.ts';
import { commandText } from '../core/command-text.ts';
import type { Config } from '../core/config/config.ts';
import { asListenProblem } from '../core/config/problem.ts';
import type { Log } from '../core/log.ts';
import type { RequestMarks } from '../core/process/request-marks.ts';
import { type SupervisedChild, superviseChild } from '../core/process/supervise.ts';
import { loopStops } from '../core/process/watch-loop.ts';
import { loadCursorKeys } from '../core/secret-file.ts';
import { runRollupWorker } from '../ingest/rollup-worker.ts';
import { runIngest } from '../ingest/worker.ts';
import { untilAcknowledged } from '../ingest/write/batch-writer.ts';
import { type OpenSandbox, openSandbox } from '../sandbox/open.ts';
import { openControlStore } from './accounts/open.ts';
import type { ControlStore } from './accounts/store.ts';
import { tellingReader } from './asked-rankings.ts';
import { makeEngineHome, remoteAccess } from './attach-engine.ts';
import { checkTokensAtStart } from './check-tokens.ts';
import { buildApp } from './http/app.ts';
import { listenForClickhouse } from './http/clickhouse/listener.ts';
import { createDrain, type Drain } from './http/drain.ts';
import { keepRequestsYoung } from './http/server.ts';
import type { IngestBootstrap } from './ingest-process.ts';
import { type Observation, openObservation } from './observe/open.ts';
import * as observed from './observe/ports.ts';
import { openAccess } from './open-access.ts';
import { openJobs } from './open-jobs.ts';
import { sqlTierSeconds } from './operations/prices.ts';

/**
 * Assembles one process: the engine (a child, or one that runs elsewhere), the API, the ingest worker (a child).
 * Adapters are made here only.
 */
export interface Service {
  /** Where the API listens; null for the roles `ingest` and `rollup`. */
  readonly url: string | null;
  /** Where it serves ClickHouse clients at a root; null without a port for them. */
  readonly clickhouseUrl: string | null;
  /** Where this process serves its metrics; null where it does not. */
  readonly metricsUrl: string | null;
  /** Process id of the embedded engine, for tests that kill it. */
  enginePid(): number | undefined;
  ingestPid(): number | undefined;
  /** Resolves when the tables exist and ingest has been started, or when the service was stopped before. */
  readonly prepared: Promise<void>;
  stop(): Promise<void>;
}

/** The engine and the worker yield to the API: point reads keep their latency while a backfill runs. */
const ENGINE_NICE = 1;
const INGEST_NICE = 5;
/** Reading a chain makes much short-lived garbage; a larger nursery saves a tenth of the worker's time (bench/ingest). */
const INGEST_NODE_FLAGS = ['--max-semi-space-size=64'];
const MS_PER_SECOND = 1_000;
const INGEST_STOP_TIMEOUT_MS = 5_000;

export async function startService(deps: {
  readonly config: Config;
  readonly log: Log;
  readonly version: string;
  /** Absent where the event loop is not watched. */
  readonly marks?: RequestMarks;
}): Promise<Service> {
  const { config, log, version, marks } = deps;
  const stopping = new AbortController();
  const cleanups: (() => Promise<unknown>)[] = [];
  const drain = createDrain();
  const stop = async (): Promise<void> => {
    stopping.abort();
    drain.begin();
    // Each by itself: a part that fails to close must not keep the engine running.
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup().catch((error: unknown) => log.error({ err: error }, 'a part could not be stopped'));
    }
  };
  try {
    const observation = await openObservation({ config, role: config.role, version, log });
    cleanups.push(observation.close);
    observation.meter?.read('loop', async () => [
      { name: 'loop_stops_total', value: loopStops(config.dataDir) },
    ]);
    const engine = await openEngine(config, log);
    cleanups.push(engine.stop);
    let isPrepared = false;
    let worker: SupervisedChild | undefined;
    const api = isWorkerOnly(config)
      ? null
      : await openApi(
          {
            ...{ config, log, version, observation, drain, signal: stopping.signal },
            isPrepared: () => isPrepared,
            tellWorker: (line) => worker?.tell(line),
            ...(marks && { marks }),
          },
          engine,
          cleanups,
        );
    const prepared = prepare({ config, log, observation }, engine.access, stopping.signal, cleanups)
      .then(async () => {
        isPrepared = true;
        void api?.sandbox.check(); // the public views are there now
        if (config.role === 'all' && !stopping.signal.aborted)
          worker = await startWorker({ config, log, version }, engine.access);
        cleanups.push(() => worker?.stop() ?? Promise.resolve());
        // stop() may have run while the worker started, and then has not seen it.
        if (stopping.signal.aborted) await worker?.stop();
      })
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        log.fatal({ err: error }, 'the service could not be prepared');
        throw error;
      });
    prepared.catch(() => undefined); // logged above; a caller that awaits it gets the error
    return {
      url: api?.url ?? null,
      clickhouseUrl: api?.clickhouseUrl ?? null,
      metricsUrl: observation.metricsUrl,
      enginePid: engine.pid,
      ingestPid: () => worker?.pid,
      prepared,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface OpenEngine {
  readonly access: EngineAccess;
  /** Null for a remote engine. */
  readonly restart: (() => Promise<void>) | null;
  /** The walls of an embedded engine; null for a remote one, where the operator sets them up (docs/operators.md). */
  readonly walls: (() => EngineWalls) | null;
  pid(): number | undefined;
  stop(): Promise<unknown>;
}

async function openEngine(config: Config, log: Log): Promise<OpenEngine> {
  const remote = remoteAccess(config);
  if (remote)
    return {
      access: remote,
      restart: null,
      walls: null,
      pid: () => undefined,
      stop: () => Promise.resolve(),
    };
  const engine = await startEmbeddedEngine({
    dataDir: makeEngineHome(config),
    database: config.clickhouse.database,
    maxMemoryMegabytes: config.clickhouse.maxMemoryMegabytes,
    nice: ENGINE_NICE,
    log,
  });
  return engine;
}

async function openApi(
  deps: {
    readonly config: Config;
    readonly log: Log;
    readonly version: string;
    readonly observation: Observation;
    readonly drain: Drain;
    readonly signal: AbortSignal;
    readonly isPrepared: () => boolean;
    readonly tellWorker: (line: string) => void;
    readonly marks?: RequestMarks;
  },
  { access: plain, restart, walls }: OpenEngine,
  cleanups: (() => Promise<unknown>)[],
): Promise<{ readonly url: string; readonly clickhouseUrl: string | null; readonly sandbox: OpenSandbox }> {
  const { config, log, observation } = deps;
  const access = observation.access(plain);
  const unseen = createReader(access, log, restart === null ? 0 : ENGINE_OUTAGE_MAX_MS);
  cleanups.push(() => unseen.close());
  const reader = tellingReader(observation.engine(unseen, 'reader'), deps.tellWorker, systemClock);
  const store = observed.observedStore(observation, openControlStore(deps));
  cleanups.push(() => store.close());
  const { sweeper, ...gated } = openAccess(
    {
      ...{ config, log, clock: systemClock, observe: observed.observePayments(observation) },
      isFaultyToken: checkTokensAtStart(config.chains, deps),
    },
    store,
  );
  cleanups.push(() => gated.usage.flush());
  cleanups.push(() => sweeper.stop());
  const cursorKeys = loadCursorKeys(config);
  const observeGuest = (guest: Guest) => observation.engine(guest, 'guest');
  const sandbox = observed.observedSandbox(
    observation,
    openSandbox({
      access,
      log,
      cores: availableParallelism(),
      restartEngine: restart,
      secondsOf: sqlTierSeconds,
      openTo: () => (walls === null || hasFileWall(walls()) ? 'everyone' : 'organizations'),
      observeGuest,
    }),
  );
  cleanups.push(() => sandbox.close());
  observed.showHealth(observation, { reader: unseen, store, clock: systemClock, config, walls });
  const gate = observed.observedGate(observation, gated.gate);
  const operations = observed.observedOperations(observation);
  const jobs = openJobs({ config, access, store, usage: gated.usage, clock: systemClock, log });
  cleanups.push(() => jobs.close());
  keepRequestsYoung();
  const app = buildApp({
    ...deps,
    ...gated,
    gate,
    operations,
    sandbox,
    reader,
    cursorKeys,
    clock: systemClock,
    kept: jobs,
  });
  // Last in, first out: the answers under way still need the store.
  cleanups.push(() => deps.drain.over().then(() => app.close()));
  sweeper.start();
  const { host, port } = config.http;
  const url = await app.listen({ host, port }).catch((error: unknown) => {
    throw asListenProblem(error, {
      host,
      port,
      hostSetting: 'http.host (HOST)',
      portSetting: 'http.port (PORT)',
    });
  });
  const clickhouseUrl = await listenAtRoot(app, deps, cleanups);
  if (config.access.anonymous === 'priced') void sayHowToMakeKeys(store, log);
  return { url, clickhouseUrl, sandbox };
}

/** The port of the ClickHouse interface, where one is configured. */
async function listenAtRoot(
  app: ReturnType<typeof buildApp>,
  { config, log, drain }: { readonly config: Config; readonly log: Log; readonly drain: Drain },
  cleanups: (() => Promise<unknown>)[],
): Promise<string | null> {
  const { host, port } = config.clickhouseInterface;
  if (port === null) return null;
  const listener = await listenForClickhouse(app, {
    host,
    port,
    maxConnections: config.http.maxConnections,
    keepAliveMs: config.http.keepAliveSeconds * MS_PER_SECOND,
    socketAnswers: { publicUrl: config.http.publicUrl ?? '', newId: randomUUID },
  });
  cleanups.push(() => drain.over().then(() => listener.close()));
  log.info({ url: listener.url }, 'serving ClickHouse clients');
  return listener.url;
}

/** A priced deployment is unusable without keys: logged once, at the start. */
async function sayHowToMakeKeys(store: ControlStore, log: Log): Promise<void> {
  try {
    const organizations = await store.accounts.listOrganizations({ after: null, limit: 1 });
    if (organizations.length > 0) return;
    log.info(
      `no organization exists yet, so there are no API keys; create one: ${commandText('admin --help')}`,
    );
  } catch (error) {
    log.warn({ err: error }, 'the control store does not answer; callers with a key get 503 until it does');
  }
}

/** Migrates the tables, and waits as long as it takes for a remote engine to appear; the API answers 503 until then. */
async function prepare(
  { config, log, observation }: { config: Config; log: Log; observation: Observation },
  access: EngineAccess,
  signal: AbortSignal,
  cleanups: (() => Promise<unknown>)[],
): Promise<void> {
  const { applied } = await untilAcknowledged(log, signal, () =>
    migrate(access, log, { facts: publicFacts(config) }),
  );
  if (applied.length > 0) log.info({ applied: applied.length }, 'migrations applied');
  if (!isWorkerOnly(config)) return;
  const writer = observation.engine(createWriter(observation.access(access), log), 'writer');
  const terminal = process.stderr.isTTY ? (line: string) => void process.stderr.write(`${line}\n`) : null;
  const shards = shardsOf(access).map((shard) =>
    observation.engine(createWriter(observation.access(shard), log), 'writer'),
  );
  const { meter } = observation;
  const deps = { config, writer, shards, log, signal, clock: systemClock, terminal, observation, meter };
  const running = config.role === 'ingest' ? runIngest(deps) : runRollupWorker(deps);
  cleanups.push(() => running.then(() => writer.close()));
  running.catch((error: unknown) => {
    log.fatal({ err: error, role: config.role }, 'the worker failed; a restart resumes where it was');
    process.exitCode = 1;
    process.kill(process.pid, 'SIGTERM');
  });
}

/** Roles without an API, whose work is done in this very process. */
function isWorkerOnly({ role }: Pick<Config, 'role'>): boolean {
  return role === 'ingest' || role === 'rollup';
}

function startWorker(
  { config, log, version }: { config: Config; log: Log; version: string },
  access: EngineAccess,
): Promise<SupervisedChild> {
  const bootstrap: IngestBootstrap = { config, access, version, terminal: process.stderr.isTTY === true };
  return superviseChild({
    name: 'ingest',
    entry: new URL(`./ingest-process${extname(import.meta.url)}`, import.meta.url),
    bootstrap,
    ready: () => Promise.resolve(true),
    log,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: INGEST_STOP_TIMEOUT_MS,
    nice: INGEST_NICE,
    nodeFlags: INGEST_NODE_FLAGS,
    onErrorLine: (line) => process.stderr.write(`${line}\n`),
  });
}
