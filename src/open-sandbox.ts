import { shardsOf } from '../clickhouse/cluster/nodes.ts';
import type { EngineAccess, Guest } from '../clickhouse/engine/engine.ts';
import { createQueryKiller } from '../clickhouse/engine/query-killer.ts';
import { createGuest } from '../clickhouse/guest/engine.ts';
import { publicDatabaseOf, viewedDatabaseOf } from '../clickhouse/guest/public-database.ts';
import type { SqlCallers, SqlTierId } from '../core/domain/plan.ts';
import type { Log } from '../core/log.ts';
import { createEngineParser } from '../sandbox/judge/engine-parser.ts';
import { type InspectDeps, inspect } from '../sandbox/judge/inspect.ts';
import { createResolve } from '../sandbox/judge/resolve.ts';
import type { SqlPolicy } from '../sandbox/judge/tree.ts';
import { createVerdictCache } from '../sandbox/judge/verdict-cache.ts';
import * as limits from '../sandbox/limits.ts';
import { loadPolicy, policyVersion } from '../sandbox/policy/policy.ts';
import { createEstimate } from '../sandbox/run/estimate.ts';
import { checkGuest } from '../sandbox/run/guest-check.ts';
import { createGuestGate, type GuestGate } from '../sandbox/run/guest-gate.ts';
import { createHeldResults } from '../sandbox/run/held-results.ts';
import { createPenalties } from '../sandbox/run/penalties.ts';
import { createPlaces, type Places } from '../sandbox/run/places.ts';
import { createQuarantine } from '../sandbox/run/quarantine.ts';
import { createRun } from '../sandbox/run/run-query.ts';
import { createUnreadResults, type UnreadResults } from '../sandbox/run/unread-results.ts';
import { createWatchdog } from '../sandbox/run/watchdog.ts';
import { OPEN_TO, type OpenTo, type SqlSandbox } from '../sandbox/sandbox.ts';
import { sqlTierOf } from './operations/prices.ts';

export interface SandboxOptions {
  readonly access: EngineAccess;
  readonly log: Log;
  /** Of the machine that the engine runs on. */
  readonly cores: number;
  /** Resolves when a new engine answers; null for an engine that is not ours to start. */
  readonly restartEngine: (() => Promise<void>) | null;
  /** Whose SQL is run, by the walls of the engine; everyone's where it is not given. */
  readonly openTo?: () => SqlCallers;
  /** For tests, which cannot wait for the real ones. */
  readonly secondsOf?: (tier: SqlTierId) => number;
  readonly killObeyedMaxMs?: number;
  /** Instead of the pinned one: for tests of what the engine does with a text that neither judgement lets pass. */
  readonly policy?: SqlPolicy;
  readonly placeKeptMaxMs?: number;
  /** Put around the guest by whoever counts and traces. */
  readonly observeGuest?: (guest: Guest) => Guest;
}

export interface OpenSandbox extends SqlSandbox {
  /** Of the places for queries. */
  load: Places['load'];
  /** Checks the guest now instead of with the first call, for the log. Never rejects. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The sandbox of an API process, over the guest of its engine. Every call rejects with `EngineError` until the guest has passed
 * its check, which the log tells once.
 */
export function openSandbox(options: SandboxOptions): OpenSandbox {
  const { access, log, restartEngine, killObeyedMaxMs = limits.KILL_OBEYED_MAX_MS } = options;
  const { observeGuest = (guest: Guest) => guest, policy = loadPolicy() } = options;
  const { openTo = () => 'everyone' as const } = options;
  const guest = observeGuest(createGuest(access));
  const shards = access.cluster === undefined ? [guest] : shardsOf(access).map((shard) => createGuest(shard));
  const killer = createQueryKiller(access);
  const gate = createGuestGate({
    check: () => checkGuest(guest, access.database),
    log,
    retryAfterMs: limits.GUEST_CHECK_RETRY_MS,
  });
  const watchdog = createWatchdog({
    killer,
    restartEngine,
    log,
    obeyMaxMs: killObeyedMaxMs,
    pollMs: limits.KILL_POLL_MS,
    placeKeptMaxMs: options.placeKeptMaxMs ?? limits.PLACE_KEPT_MAX_MS,
    unstoppablePollMs: limits.UNSTOPPABLE_POLL_MS,
  });
  const penalties = createPenalties({
    lastsMs: limits.PENALTY_MS,
    callersMax: limits.PENALTY_CALLERS_MAX,
    organizationsOnlyAfter: limits.ORGANIZATIONS_ONLY_AFTER,
    windowMs: limits.UNSTOPPABLE_WINDOW_MS,
    organizationsOnlyMs: limits.ORGANIZATIONS_ONLY_MS,
    closedAfter: limits.CLOSED_AFTER,
    onChange: (openTo, unstoppable) => {
      if (openTo === 'everyone') log.info('SQL is run for everyone again');
      else log.error({ openTo, unstoppable }, SQL_IS_CLOSED[openTo]);
    },
  });
  const quarantine = createQuarantine(limits.QUARANTINE_MAX);
  const places = queryPlaces(options.cores);
  const resolve = createResolve({
    guest,
    policy: {
      ...policy,
      databases: new Set([publicDatabaseOf(access.database), viewedDatabaseOf(access.database)]),
    },
  });
  const run = createRun({
    resolve,
    guest,
    places,
    unread: unreadResults(),
    held: createHeldResults(limits.RESULTS_IN_MEMORY_MAX),
    watchdog,
    penalties,
    secondsOf: options.secondsOf ?? ((tier) => sqlTierOf(tier).timeoutSeconds),
    quarantine,
    log,
  });
  const estimate = createEstimate({
    resolve,
    guests: shards,
    places: estimatePlaces(),
    watchdog,
    penalties,
    quarantine,
  });
  return {
    openTo,
    inspect: rememberedInspect({ parser: createEngineParser(guest), policy }, gate),
    run: (query, signal) => gate.pass(() => run(query, signal)),
    estimate: (query, signal) => gate.pass(() => estimate(query, signal)),
    load: () => places.load(),
    openNow: () => narrower(openTo(), penalties.openTo()),
    check: () =>
      gate.facts().then(
        () => undefined,
        () => undefined, // the gate has told the log
      ),
    async close() {
      await Promise.all([guest, ...shards, killer].map((part) => part.close()));
    },
  };
}

/** Of two answers the one that lets fewer callers in. */
function narrower(one: OpenTo, other: OpenTo): OpenTo {
  return OPEN_TO.indexOf(one) > OPEN_TO.indexOf(other) ? one : other;
}

const SQL_IS_CLOSED = {
  organizations:
    'several queries could not be stopped: SQL is for organizations only until an hour has passed without another one',
  no_caller:
    'queries could not be stopped again and again: SQL is closed for every caller until this service is started anew; look at the quarantined digests in the log first (docs/operators.md)',
} as const;

function rememberedInspect(deps: InspectDeps, gate: GuestGate): SqlSandbox['inspect'] {
  const version = policyVersion(deps.policy);
  const cache = createVerdictCache({
    entriesMax: limits.VERDICTS_MAX,
    charsMax: limits.VERDICTS_MAX_CHARS,
  });
  return (text, parameters) =>
    gate.pass(({ engineVersion }) =>
      cache.verdict({ engineVersion, policyVersion: version, text, parameters }, () =>
        inspect(text, parameters, deps),
      ),
    );
}

function unreadResults(): UnreadResults {
  return createUnreadResults({
    max: limits.UNREAD_RESULTS_MAX,
    maxPerCaller: limits.UNREAD_RESULTS_MAX_PER_CALLER,
    readMaxMs: limits.RESULT_READ_MAX_MS,
    retryAfterSeconds: limits.QUEUE_RETRY_AFTER_SECONDS,
  });
}

function queryPlaces(cores: number): Places {
  return createPlaces({
    ...limits.placesOf(cores),
    waitingMax: limits.QUEUE_MAX,
    waitingMaxPerCaller: limits.QUEUE_MAX_PER_CALLER,
    waitMaxMs: limits.QUEUE_WAIT_MAX_MS,
    retryAfterSeconds: limits.QUEUE_RETRY_AFTER_SECONDS,
  });
}

function estimatePlaces(): Places {
  return createPlaces({
    all: limits.ESTIMATE_PLACES,
    heavy: 0,
    waitingMax: limits.QUEUE_MAX,
    waitingMaxPerCaller: limits.QUEUE_MAX_PER_CALLER,
    waitMaxMs: limits.ESTIMATE_WAIT_MAX_MS,
    retryAfterSeconds: limits.QUEUE_RETRY_AFTER_SECONDS,
  });
}
