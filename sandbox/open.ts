import { createAttachedReader } from '../clickhouse/engine/attached-reader.ts';
import { publicDatabaseOf, viewedDatabaseOf } from '../clickhouse/engine/databases.ts';
import type { EngineAccess, Guest, QueryKiller } from '../clickhouse/engine/engine.ts';
import { createReader } from '../clickhouse/engine/http-engine.ts';
import { shardsOf } from '../clickhouse/engine/nodes.ts';
import { createQueryKiller } from '../clickhouse/engine/query-killer.ts';
import { createGuest } from '../clickhouse/guest/engine.ts';
import type { SqlCallers, SqlTierId } from '../core/domain/plan.ts';
import type { Log } from '../core/log.ts';
import { createPlaces, type Places } from '../core/process/places.ts';
import { cataloguePolicy, createIntrospection } from './catalogue/introspect.ts';
import { createSuggest } from './dialects/suggest.ts';
import { createTranslator } from './dialects/translator.ts';
import { createTypeCheck } from './dialects/type-check.ts';
import { createVerdictCache, type InspectDeps, inspect, placeholdersIn } from './judge/inspect.ts';
import { createEngineParser } from './judge/parser.ts';
import * as limits from './limits.ts';
import { mayNameOwn } from './policy/own-tables.ts';
import { loadPolicy, policyVersion, type SqlPolicy, withOwnTables } from './policy/policy.ts';
import {
  type Admission,
  createAdmission,
  createHeldResults,
  createUnreadResults,
  type UnreadResults,
} from './run/admission.ts';
import { createEstimate } from './run/estimate.ts';
import { createFreeTime } from './run/free-time.ts';
import { checkGuest, createGuestGate, type GuestGate } from './run/guest.ts';
import { createSpareMemory } from './run/memory.ts';
import { createPenalties, createQuarantine, type Penalties } from './run/penalties.ts';
import { createResolve } from './run/planning.ts';
import { createReadUpload } from './run/read-upload.ts';
import { createRun } from './run/run-query.ts';
import { createConstants } from './run/table-constants.ts';
import { createWatchdog, type Watchdog } from './run/watchdog.ts';
import { OPEN_TO, type OpenTo, type SqlSandbox } from './sandbox.ts';

export interface SandboxOptions {
  readonly access: EngineAccess;
  readonly log: Log;
  /** Cores of the engine's machine. */
  readonly cores: number;
  /** Restarts the engine and resolves when it answers; null for an engine that we cannot restart. */
  readonly restartEngine: (() => Promise<void>) | null;
  /** Whose SQL runs, given the walls of the engine. Default: everyone's. */
  readonly openTo?: () => SqlCallers;
  /** How long a query of a tier may run. */
  readonly secondsOf: (tier: SqlTierId) => number;
  /** For tests, which cannot wait for the real value. */
  readonly killObeyedMaxMs?: number;
  /** Replaces the pinned policy, for tests of the engine with texts that neither judgement accepts. */
  readonly policy?: SqlPolicy;
  readonly placeKeptMaxMs?: number;
  /** For tests of the limit, and those that ask more than a caller may. */
  readonly catalogueFreeMs?: number;
  /** Counts and traces the guest's statements. */
  readonly observeGuest?: (guest: Guest) => Guest;
}

export interface OpenSandbox extends SqlSandbox {
  /** Usage of the places for queries. */
  load: Places['load'];
  /** Checks the guest now instead of at the first call, so that the log shows the result early. Never rejects. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The sandbox of an API process, over the guest of its engine. Every call rejects with `EngineError` until the guest has passed its check. */
export function openSandbox(options: SandboxOptions): OpenSandbox {
  const { access, log, secondsOf, policy = loadPolicy(), openTo = () => 'everyone' as const } = options;
  const { observeGuest = (guest: Guest) => guest } = options;
  const guest = observeGuest(createGuest(access));
  const shards = access.cluster === undefined ? [guest] : shardsOf(access).map((shard) => createGuest(shard));
  const killer = createQueryKiller(access);
  const uploads = createAttachedReader(access);
  const reader = createReader(access, log);
  const check = (): ReturnType<typeof checkGuest> => checkGuest(guest, access);
  const gate = createGuestGate({ check, log, retryAfterMs: limits.GUEST_CHECK_RETRY_MS });
  const unread = unreadResults();
  const runPlaces = queryPlaces(options.cores);
  const admission = createAdmission({
    penalties: loggedPenalties(log),
    quarantine: createQuarantine(limits.QUARANTINE_MAX),
    unread,
    guest: gate,
    runPlaces,
    planPlaces: estimatePlaces(),
  });
  const watchdog = openWatchdog(options, killer);
  const databases = new Set([publicDatabaseOf(access.database), viewedDatabaseOf(access.database)]);
  const resolve = createResolve({ guest, policy: { ...policy, databases } });
  const memory = {
    held: createHeldResults(limits.RESULTS_IN_MEMORY_MAX),
    spare: createSpareMemory(limits.placesOf(options.cores).all),
  };
  const parser = createEngineParser(guest);
  const ofCatalogue = cataloguePolicy(policy);
  const introspection = createIntrospection({
    openTo,
    guest,
    parser,
    admission,
    unread,
    freeTime: createFreeTime({
      maxMs: options.catalogueFreeMs ?? limits.CATALOGUE_FREE_MS,
      windowMs: limits.CATALOGUE_WINDOW_MS,
      callersMax: limits.CATALOGUE_CALLERS_MAX,
    }),
    watchdog,
    policy: { catalogue: ofCatalogue, tables: policy },
    resolve: {
      catalogue: createResolve({ guest, policy: { ...ofCatalogue, databases } }),
      tables: resolve,
    },
  });
  const inspectText = rememberedInspect({ parser, policy }, admission);
  // On a cluster the views look them up.
  const brought = access.cluster === undefined ? { constants: createConstants(reader) } : {};
  const estimate = createEstimate({ ...{ resolve, guests: shards, admission, watchdog }, ...brought });
  const translator = createTranslator({ log });
  return {
    ...introspection,
    openTo,
    inspect: inspectText,
    placeholders: ({ text, caller }) =>
      admission.inspect(caller, () => placeholdersIn(text, { parser, policy })),
    run: createRun({
      ...{ resolve, guest, admission, unread, memory, watchdog, killer, secondsOf, log },
      ...brought,
    }),
    progress: (runId) => killer.progress(runId),
    cancel: (runId) => killer.kill(runId),
    estimate,
    readUpload: createReadUpload({ reader: uploads, admission }),
    suggest: createSuggest({
      translator,
      inspect: inspectText,
      checkTypes: createTypeCheck({ guest, admission, watchdog, policy: { ...policy, databases } }),
    }),
    load: () => runPlaces.load(),
    openNow: () => narrower(openTo(), admission.openTo()),
    // The log says why the check fails.
    check: () => settled(gate),
    async close() {
      uploads.close();
      await Promise.all([guest, ...shards, killer, reader, translator].map((part) => part.close()));
    },
  };
}

function settled(gate: GuestGate): Promise<void> {
  return gate.facts().then(
    () => undefined,
    () => undefined,
  );
}

function openWatchdog(
  { restartEngine, log, killObeyedMaxMs, placeKeptMaxMs }: SandboxOptions,
  killer: QueryKiller,
): Watchdog {
  return createWatchdog({
    killer,
    restartEngine,
    log,
    obeyMaxMs: killObeyedMaxMs ?? limits.KILL_OBEYED_MAX_MS,
    pollMs: limits.KILL_POLL_MS,
    placeKeptMaxMs: placeKeptMaxMs ?? limits.PLACE_KEPT_MAX_MS,
    unstoppablePollMs: limits.UNSTOPPABLE_POLL_MS,
  });
}

function loggedPenalties(log: Log): Penalties {
  return createPenalties({
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
}

/** The more restrictive of the two. */
function narrower(one: OpenTo, other: OpenTo): OpenTo {
  return OPEN_TO.indexOf(one) > OPEN_TO.indexOf(other) ? one : other;
}

const SQL_IS_CLOSED = {
  organizations:
    'several queries could not be stopped: SQL is for organizations only until an hour passes without another one',
  no_caller:
    'queries could not be stopped repeatedly: SQL is closed for every caller until this service is restarted; check the quarantined digests in the log first (docs/operators.md)',
} as const;

function rememberedInspect(deps: InspectDeps, admission: Admission): SqlSandbox['inspect'] {
  const version = policyVersion(deps.policy);
  const cache = createVerdictCache({
    entriesMax: limits.VERDICTS_MAX,
    charsMax: limits.VERDICTS_MAX_CHARS,
  });
  return ({ text, parameters, caller, readsLikeServer = false, settings = [], ownTables }) =>
    admission.inspect(caller, async ({ engineVersion }) => {
      const own = mayNameOwn(text, parameters) ? ((await ownTables?.()) ?? []) : [];
      const ids = own.map(({ id }) => id);
      return cache.verdict(
        {
          ...{ engineVersion, text, parameters, readsLikeServer, settings },
          policyVersion: [version, ...ids].join(' '),
        },
        () =>
          inspect(text, parameters, {
            ...deps,
            policy: withOwnTables(deps.policy, own),
            readsLikeServer,
            settings,
          }),
      );
    });
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
