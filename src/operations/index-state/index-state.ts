import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField } from '../../../clickhouse/engine/row-reader.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { Failure, fail } from '../../../core/errors.ts';
import { ask } from '../ask.ts';
import type { EndpointSourceState, EndpointSources } from '../endpoints/sources.ts';
import type { ChainStatus } from './chain-status.ts';
import type { Freshness } from './freshness.ts';
import type { IdentityState, IdentityStates } from './identity-state.ts';
import { type RollupState, readRollupState } from './rollups.ts';

/** The index as telemetry shows it; while its engine does not answer, as it was read last. */

/** What `engine.status` can be. */
export const ENGINE_STATUSES = {
  ok: 'it answers',
  starting:
    'it has not answered everything yet since this process started: it starts, or its tables are being made',
  unreachable: 'it answered before and does not now: it restarts, or cannot be reached',
  overloaded: 'it answers, but refused part of what telemetry asks, or took too long',
} as const;

export type EngineStatus = keyof typeof ENGINE_STATUSES;

interface IndexState {
  readonly engine: {
    readonly status: EngineStatus;
    /** Null while it does not answer. */
    readonly uptimeSeconds: number | null;
    /** Unix milliseconds of its last answer; null before the first. The figures shown are no newer. */
    readonly answeredAtMs: number | null;
  };
  /** Each null until it was read once. */
  readonly statuses: ReadonlyMap<Chain, ChainStatus> | null;
  readonly rollups: RollupState | null;
  readonly identities: IdentityState | null;
  readonly sources: readonly EndpointSourceState[] | null;
}

export interface IndexStates {
  /** `reader` is the caller's. An engine that does not answer rejects nothing. */
  read(reader: Reader): Promise<IndexState>;
}

export function createIndexStates(deps: {
  readonly clock: Clock;
  readonly freshness: Freshness;
  readonly identityStates: IdentityStates;
  readonly endpointSources: EndpointSources;
}): IndexStates {
  const statuses = lastKnown<ReadonlyMap<Chain, ChainStatus>>();
  const rollups = lastKnown<RollupState>();
  const identities = lastKnown<IdentityState>();
  const sources = lastKnown<readonly EndpointSourceState[]>();
  let answeredAtMs: number | null = null;
  let hasAnsweredAll = false;
  return {
    read: async (reader) => {
      const uptime = lastKnown<number>();
      const parts = Promise.all([
        statuses.renew(() => deps.freshness.statuses()),
        rollups.renew(() => readRollupState(reader)),
        identities.renew(() => deps.identityStates.state()),
        sources.renew(() => deps.endpointSources.states()),
      ]);
      parts.catch(() => undefined); // awaited below, except when the engine is away
      const isThere = await uptime.renew(() => readEngineUptime(reader));
      // The other questions may take long to fail.
      const hasAll = isThere && (await parts).every((isRead) => isRead);
      if (isThere) answeredAtMs = deps.clock.nowMs();
      hasAnsweredAll ||= hasAll;
      return {
        engine: {
          status: statusOf({ isThere, hasAll, hasAnsweredAll }),
          uptimeSeconds: uptime.value(),
          answeredAtMs,
        },
        statuses: statuses.value(),
        rollups: rollups.value(),
        identities: identities.value(),
        sources: sources.value(),
      };
    },
  };
}

function statusOf(engine: {
  readonly isThere: boolean;
  readonly hasAll: boolean;
  readonly hasAnsweredAll: boolean;
}): EngineStatus {
  if (engine.hasAll) return 'ok';
  if (!engine.hasAnsweredAll) return 'starting';
  return engine.isThere ? 'overloaded' : 'unreachable';
}

interface LastKnown<Value> {
  /** Whether it could be read. Rejects for a bug, that is, any error but an engine failure. */
  renew(read: () => Promise<Value>): Promise<boolean>;
  value(): Value | null;
}

function lastKnown<Value>(): LastKnown<Value> {
  let known: Value | null = null;
  return {
    renew: async (read) => {
      try {
        known = await read();
        return true;
      } catch (error) {
        if (error instanceof Failure && error.code === 'upstream_unavailable') return false;
        throw error;
      }
    },
    value: () => known,
  };
}

const MAX_SECONDS = 3;

/** Seconds the engine has been up; throws `upstream_unavailable` when it does not answer. */
export async function readEngineUptime(reader: Reader): Promise<number> {
  const { rows } = await ask(reader, 'index', {
    name: 'engine-uptime',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT uptime()`,
    waitsForRestart: false,
  });
  return integerField(rows[0]?.[0]);
}

/**
 * Throws `upstream_unavailable` until the schema is prepared, the engine answers and the tables that every list needs exist. The count without a condition
 * reads no row, and on a cluster asks every shard: with one of them away the lists could not be answered either.
 */
export async function checkReady(reader: Reader, isPrepared: () => boolean = () => true): Promise<void> {
  if (!isPrepared())
    throw fail('upstream_unavailable', {
      detail: 'The index is being prepared: its tables are made or migrated.',
    });
  await ask(reader, 'index', {
    name: 'ready',
    maxSeconds: MAX_SECONDS,
    maxRows: 10,
    sql: sql`SELECT (SELECT count() FROM settlements), (SELECT count() FROM wallet_rows WHERE 0),
      (SELECT count() FROM chain_status WHERE 0), (SELECT count() FROM facilitator_relayers WHERE 0),
      (SELECT count() FROM catalogued_payees WHERE 0)`,
  });
}
