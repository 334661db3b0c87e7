import { EngineError, type Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import { knownTokens } from '../../core/domain/networks.ts';
import type { Log } from '../../core/log.ts';
import type { Meter } from '../../core/meter.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import { createBundleCatalogue } from '../bundles/catalogue.ts';
import { directoryStore } from '../bundles/store.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Results } from '../results/results.ts';
import type { Shares } from '../results/shares.ts';
import type { AccountDeps } from './account/own-account.ts';
import { createLeaderboard } from './agents/read-leaderboard.ts';
import { asUnavailable, cached } from './ask.ts';
import { createCapabilities } from './capabilities/read.ts';
import type { BoardDeps } from './dashboards/boards.ts';
import { createStanding } from './dashboards/standing.ts';
import { createDatasetFacts, createPublicTableRows } from './dataset.ts';
import type { BoundSandbox, Deployment, PriceListEntry, ShareRun } from './deps.ts';
import { createEndpointSources } from './endpoints/sources.ts';
import { createRelayers } from './facilitators/read.ts';
import { createGraphs } from './graph/read.ts';
import { createFreshness } from './index-state/freshness.ts';
import { createIdentityStates } from './index-state/identity-state.ts';
import { checkReady, createIndexStates } from './index-state/index-state.ts';
import { createRollups } from './index-state/rollups.ts';
import { createSnapshots } from './index-state/snapshots.ts';
import { createNames } from './names.ts';
import type { TableDeps } from './own-tables.ts';
import { createRankings } from './rankings/rankings.ts';
import { createSavedAnswers } from './saved/answers.ts';
import { readHorizon } from './settlements/changes.ts';
import { createTails, type TailTimes } from './settlements/tail.ts';
import { createSharing } from './sharing.ts';
import { metaNow } from './sql/as-of.ts';
import { createKeptSql } from './sql/obtain.ts';

/** A caller gets no answer that was begun longer before its request. */
const JOINED_MAX_MS = 100;
/** An older mark makes a reader get changes between the two a second time, and lose none. */
const HORIZON_MAX_AGE_MS = 1_000;
const READY_MAX_AGE_MS = 500;

/** The accounts as operations may use them. Rejects with a `Failure`. */
export type Accounts = AccountDeps['accounts'] & BoardDeps['accounts'] & TableDeps['accounts'];

export interface OperationDepsOptions {
  readonly config: Pick<Config, 'bundles' | 'clickhouse' | 'http' | 'chains' | 'payment' | 'plans'>;
  readonly reader: Reader;
  readonly sandbox: SqlSandbox;
  readonly cursorKeys: CursorKeys;
  readonly accounts: Accounts;
  readonly sellsCalls: boolean;
  readonly priceList: readonly PriceListEntry[];
  readonly clock: Clock;
  readonly version: string;
  readonly log: Log;
  /** Absent where nothing is counted. */
  readonly observation?: { readonly meter: Meter | null };
  /** In place of the product's own. */
  readonly tailTimes?: TailTimes | undefined;
  /** False until the schema is that of this program; absent where it was before. */
  readonly isPrepared?: () => boolean;
  /** Null or absent where no results are kept. */
  readonly kept?: { readonly results: Results; readonly jobs: Jobs; readonly shares: Shares } | null;
}

/** What every operation gets, and what the resources need in addition. */
export type ServiceDeps = ReturnType<typeof createOperationDeps>;

/** What all operations of a process share. A request binds the reader and the sandbox to itself. */
export function createOperationDeps(options: OperationDepsOptions) {
  const { config, reader, clock, cursorKeys, accounts, sandbox, log, observation, tailTimes } = options;
  const deployment = deploymentOf(options);
  const { chains } = deployment;
  const rollups = createRollups({ reader, clock });
  const freshness = createFreshness({ reader, clock });
  const endpointSources = createEndpointSources({ reader, clock });
  const identityStates = createIdentityStates({ reader, clock });
  const dataset = createDatasetFacts({ reader, clock, rollups, freshness });
  const { newestTime } = dataset;
  const meter = observation?.meter ?? null;
  const isCluster = config.clickhouse.cluster !== null;
  const shared = {
    share: shareRuns(reader),
    reader,
    sql: unbound(sandbox),
    clock,
    cursorKeys,
    deployment,
    index: {
      freshness,
      snapshots: createSnapshots({ reader, clock, chains, isCluster }),
      names: createNames({ reader, clock }),
      dataset,
      rollups,
      // Probes ask outside of every quota, so at most two checks a second may reach the engine.
      ready: cached({
        clock,
        maxAgeMs: READY_MAX_AGE_MS,
        load: () => checkReady(reader, options.isPrepared),
      }),
    },
  };
  const kept =
    options.kept == null
      ? null
      : createKeptSql({
          ...options.kept,
          answers: createSavedAnswers(options.kept.results),
          sandbox,
          clock,
        });
  return {
    ...shared,
    accounts,
    horizon: cached({ clock, maxAgeMs: HORIZON_MAX_AGE_MS, load: () => readHorizon(reader) }),
    tails: createTails({ reader, clock, newestTime, log, meter, times: tailTimes }),
    indexStates: createIndexStates({ clock, freshness, identityStates, endpointSources }),
    publicTableRows: createPublicTableRows({ reader, clock, tokens: knownTokens(config.chains).size }),
    bundles: createBundleCatalogue({ store: directoryStore(config.bundles.dir), chains, clock }),
    graphs: createGraphs({ clock }),
    relayers: createRelayers({ reader, clock, rollups, chains }),
    endpointSources,
    capabilities: createCapabilities({ reader, clock }),
    leaderboard: createLeaderboard({ reader, clock, chains }),
    rankings: createRankings({ reader, clock, rollups, chains }),
    kept,
    standing:
      kept === null
        ? null
        : createStanding({ kept, sql: shared.sql, meta: () => metaNow(shared), clock, log }),
  };
}

function deploymentOf({ config, version, sellsCalls, priceList, clock }: OperationDepsOptions): Deployment {
  return {
    chains: config.chains.map(({ chain }) => chain),
    sampleDataTo: new Map(
      config.chains.flatMap(({ chain, sampleDataTo }) =>
        sampleDataTo === null ? [] : [[chain, sampleDataTo] as const],
      ),
    ),
    chainFacts: new Map(
      config.chains.map(({ chain, facts, explorerUrl }) => [chain, { name: facts.name, explorerUrl }]),
    ),
    tokenDecimals: new Map([...knownTokens(config.chains)].map(([key, { decimals }]) => [key, decimals])),
    version,
    startedAtMs: clock.nowMs(),
    publicUrl: config.http.publicUrl?.replace(/(?<!\/)\/+$/, '') ?? '',
    priceList,
    plans: config.plans,
    sellsCalls,
    paidIn: sellsCalls ? config.payment.accept : [],
  };
}

function shareRuns(reader: Reader): ShareRun {
  const sharing = createSharing({ joinMaxMs: JOINED_MAX_MS });
  return async (name, run, left) => {
    try {
      const begin = (stopped: () => AbortSignal) =>
        run({ ...reader, rows: (statement) => reader.rows(statement, stopped()) });
      return await sharing.join(name, begin, left);
    } catch (error) {
      throw left?.aborted === true
        ? asUnavailable('index', new EngineError('aborted', 'shared', null, error))
        : error;
    }
  };
}

/** The sandbox without a caller who could leave. */
function unbound(sandbox: SqlSandbox): BoundSandbox {
  const { signal } = new AbortController();
  return {
    openTo: () => sandbox.openTo(),
    openNow: () => sandbox.openNow(),
    inspect: (query) => sandbox.inspect(query),
    placeholders: (text) => sandbox.placeholders(text),
    suggest: (query) => sandbox.suggest(query),
    run: (query) => sandbox.run(query, signal),
    estimate: (query) => sandbox.estimate(query, signal),
    readUpload: (upload) => sandbox.readUpload(upload, signal),
    progress: (runId) => sandbox.progress(runId),
    cancel: (runId) => sandbox.cancel(runId),
  };
}
