import { shardsOf } from '../clickhouse/cluster/nodes.ts';
import type { EngineAccess, Guest } from '../clickhouse/engine.ts';
import { createGuest } from '../clickhouse/guest-engine.ts';
import { createQueryKiller } from '../clickhouse/query-killer.ts';
import { checkGuest } from '../sandbox/check-guest.ts';
import { createEngineParser } from '../sandbox/engine-parser.ts';
import { createEstimate } from '../sandbox/estimate.ts';
import { createGuestGate, type GuestGate } from '../sandbox/guest-gate.ts';
import { createHeldResults } from '../sandbox/held-results.ts';
import { inspect } from '../sandbox/inspect.ts';
import * as limits from '../sandbox/limits.ts';
import { createPenalties } from '../sandbox/penalties.ts';
import { createPlaces, type Places } from '../sandbox/places.ts';
import { loadPolicy, policyVersion } from '../sandbox/policy.ts';
import { createQuarantine } from '../sandbox/quarantine.ts';
import { createRun, tierSeconds } from '../sandbox/run-query.ts';
import type { SqlSandbox } from '../sandbox/sql-sandbox.ts';
import { createUnreadResults, type UnreadResults } from '../sandbox/unread-results.ts';
import { createVerdictCache } from '../sandbox/verdict-cache.ts';
import { createWatchdog } from '../sandbox/watchdog.ts';
import type { SqlCallers, SqlTierId } from './domain/plan.ts';
import type { Log } from './log.ts';

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
  const { observeGuest = (guest: Guest) => guest } = options;
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
  });
  const penalties = createPenalties({
    lastsMs: limits.PENALTY_MS,
    callersMax: limits.PENALTY_CALLERS_MAX,
  });
  const quarantine = createQuarantine(limits.QUARANTINE_MAX);
  const places = queryPlaces(options.cores);
  const run = createRun({
    guest,
    places,
    unread: unreadResults(),
    held: createHeldResults(limits.RESULTS_IN_MEMORY_MAX),
    watchdog,
    penalties,
    secondsOf: options.secondsOf ?? tierSeconds,
    quarantine,
    log,
  });
  const estimate = createEstimate({
    guests: shards,
    places: estimatePlaces(),
    watchdog,
    penalties,
    quarantine,
  });
  return {
    openTo: options.openTo ?? (() => 'everyone'),
    inspect: rememberedInspect(guest, gate),
    run: (query, signal) => gate.pass(() => run(query, signal)),
    estimate: (query, signal) => gate.pass(() => estimate(query, signal)),
    load: () => places.load(),
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

function rememberedInspect(guest: Guest, gate: GuestGate): SqlSandbox['inspect'] {
  const policy = loadPolicy();
  const version = policyVersion(policy);
  const deps = { parser: createEngineParser(guest), policy };
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
