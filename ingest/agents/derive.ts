import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { AGENT_CARDS, FEEDBACK_FILES } from '../../clickhouse/tables/agents.ts';
import { AGENT_CHANGES, AGENT_EVENTS, ATTESTATIONS } from '../../clickhouse/tables/registries.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { createSafeFetcher } from '../fetch/safe-fetch.ts';
import { observedFetcher, UNOBSERVED, type WorkObservation } from '../follow/observe-work.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';
import { OTHERS_WRITE, type WriteWatch } from '../write/watch-writes.ts';
import { fetchCards } from './cards/queue.ts';
import { fetchFeedback } from './feedback/queue.ts';
import {
  countChangesSql,
  countDueSql,
  type Due,
  deriveSql,
  noteDueSql,
  recheckProofsSql,
} from './statements.ts';

/**
 * Keeps table `agents` in line with events, cards and feedback. An agent is due while rows about it are newer than its last
 * derivation. Can be killed at any point: an agent that was not written is still due.
 */

export interface DeriveLimits {
  /** Pause after a pass that found nothing. */
  readonly pollMs: number;
  /** Pause after a pass as a multiple of its duration: an agent with a million ratings that is rated in every block must not take a core. */
  readonly restFactor: number;
  readonly agentsPerBatch: number;
  /** How far back changes are found by their time; the full comparison finds older ones. */
  readonly recentSeconds: number;
  /** Interval of the full comparison. */
  readonly fullEveryMs: number;
  /** How often payments named by feedback are looked up again: they may be indexed later, or undone by a reorg. */
  readonly proofsEveryMs: number;
}

export const DERIVE_LIMITS: DeriveLimits = {
  pollMs: 500,
  restFactor: 3,
  agentsPerBatch: 5_000,
  recentSeconds: 300,
  fullEveryMs: 60_000,
  proofsEveryMs: 3_600_000,
};

const NOTE_MAX_SECONDS = 60;
const DERIVE_MAX_SECONDS = 300;
const MEBIBYTE = 1024 * 1024;
/** One thread and bounded memory, so that point reads keep their latency. */
const DERIVE_SETTINGS = {
  max_threads: 1,
  max_insert_threads: 1,
  max_memory_usage: 1024 * MEBIBYTE,
  max_bytes_before_external_group_by: 256 * MEBIBYTE,
} as const;

export interface DeriveDeps {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits?: Partial<DeriveLimits>;
  /** Default: other processes write too, and changes are looked for every `pollMs`. */
  readonly writes?: WriteWatch;
}

/** The tables whose rows make an agent due: itself, and those from which views fill it. */
const CHANGING = [AGENT_CHANGES, AGENT_EVENTS, ATTESTATIONS, AGENT_CARDS, FEEDBACK_FILES].map(
  ({ name }) => name,
);

/** Until the signal aborts. */
export async function deriveAgents(deps: DeriveDeps): Promise<void> {
  const limits = { ...DERIVE_LIMITS, ...deps.limits };
  const { log, signal, writes = OTHERS_WRITE } = deps;
  const look = createLook(deps, limits);
  let proofsAtMs = Number.NEGATIVE_INFINITY;
  try {
    while (!signal.aborted) {
      const beganMs = performance.now();
      const seen = writes.count(CHANGING);
      if (beganMs - proofsAtMs >= limits.proofsEveryMs) {
        await recheckProofs(deps);
        proofsAtMs = beganMs;
      }
      const derived = await look(beganMs);
      const tookMs = performance.now() - beganMs;
      if (derived > 0) log.debug({ agents: derived, tookMs: Math.round(tookMs) }, 'agents derived');
      // A backlog is processed without pauses: only readers compete for the engine, and they have the other core.
      if (derived === limits.agentsPerBatch) continue;
      await delay(Math.max(limits.pollMs, tookMs * limits.restFactor), undefined, { signal });
      await writes.after(seen, CHANGING, { maxMs: limits.fullEveryMs, signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Derives agents that are due: where a row about any agent is new since the last look, and once a minute by comparing all of them. */
function createLook(deps: DeriveDeps, limits: DeriveLimits): (nowMs: number) => Promise<number> {
  let fullAtMs = Number.NEGATIVE_INFINITY;
  let seen: string | null = null;
  return async (nowMs) => {
    const isFull = nowMs - fullAtMs >= limits.fullEveryMs;
    // One small read: looking for due agents writes to the engine, and at rest nothing changes.
    const changes = await countChanges(deps);
    if (!isFull && changes === seen) return 0;
    const derived = await deriveDue(deps, isFull ? 'all' : { changedWithinSeconds: limits.recentSeconds });
    // A full batch may have left agents over, so the next look is at all of them again.
    const isWhole = derived < limits.agentsPerBatch;
    if (isFull && isWhole) fullAtMs = nowMs;
    seen = isWhole ? changes : null;
    return derived;
  };
}

async function countChanges({ writer, log, signal }: DeriveDeps): Promise<string> {
  const { rows } = await untilAcknowledged(log, signal, () =>
    writer.rows({
      name: 'agents-changes-count',
      sql: countChangesSql(),
      maxSeconds: NOTE_MAX_SECONDS,
      maxRows: 1,
    }),
  );
  return String(rows[0]?.[0]);
}

/** Makes agents due whose feedback names a payment. */
export async function recheckProofs({ writer, log, signal }: DeriveDeps): Promise<void> {
  await untilAcknowledged(log, signal, () =>
    writer.run({
      name: 'agents-proofs-recheck',
      sql: recheckProofsSql(),
      maxSeconds: NOTE_MAX_SECONDS,
      settings: DERIVE_SETTINGS,
    }),
  );
}

/** Derives one batch of agents that are due; returns how many. */
export async function deriveDue(
  { writer, versions, log, signal, limits }: DeriveDeps,
  due: Due = 'all',
): Promise<number> {
  const { agentsPerBatch } = { ...DERIVE_LIMITS, ...limits };
  return untilAcknowledged(log, signal, async () => {
    const batch = versions.next();
    await writer.run({
      name: 'agents-due',
      sql: noteDueSql(batch, due, agentsPerBatch),
      maxSeconds: NOTE_MAX_SECONDS,
      settings: DERIVE_SETTINGS,
    });
    const { rows } = await writer.rows({
      name: 'agents-due-count',
      sql: countDueSql(batch),
      maxSeconds: NOTE_MAX_SECONDS,
      maxRows: 1,
    });
    const count = Number(rows[0]?.[0] ?? 0);
    if (count === 0) return 0;
    await writer.run({
      name: 'agents-derive',
      sql: deriveSql(batch, versions.next()),
      maxSeconds: DERIVE_MAX_SECONDS,
      settings: DERIVE_SETTINGS,
    });
    return count;
  });
}

/**
 * Maintains everything about agents beyond their logs: derives them, and fetches the files that they and their raters name. Runs
 * until the signal aborts; any error except one of a remote document ends it.
 */
export async function runIdentities(deps: {
  readonly config: Pick<Config, 'chains' | 'identities'>;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Counts fetches; default: none are counted. */
  readonly observation?: WorkObservation;
  readonly writes?: WriteWatch;
}): Promise<void> {
  const { config, log, clock = systemClock, observation = UNOBSERVED } = deps;
  const work = [deriveAgents(deps)];
  if (config.identities.fetch) {
    const fetcher = observedFetcher(observation, createSafeFetcher({ settings: config.identities, log }));
    work.push(fetchCards({ ...deps, clock, fetcher }), fetchFeedback({ ...deps, clock, fetcher }));
  }
  await Promise.all(work);
}
